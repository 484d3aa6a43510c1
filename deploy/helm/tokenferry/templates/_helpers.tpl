{{- define "tokenferry.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /* Call with (list $ component). */ -}}
{{- define "tokenferry.selector" -}}
app.kubernetes.io/name: {{ (index . 0).Chart.Name }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "tokenferry.labels" -}}
{{ include "tokenferry.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ printf "%s-%s" (index . 0).Chart.Name (index . 0).Chart.Version | replace "+" "_" }}
{{- end -}}

{{- /* Call with (list $ component tag). */ -}}
{{- define "tokenferry.image" -}}
{{- $root := index . 0 -}}
{{- $image := printf "tokenferry-%s:%s" (index . 1) (coalesce (index . 2) $root.Values.image.tag $root.Chart.AppVersion) -}}
{{- with $root.Values.image.registry }}{{ trimSuffix "/" . }}/{{ end }}{{ $image }}
{{- end -}}

{{- define "tokenferry.companyDataUrl" -}}
{{- $own := ternary (printf "http://%s-service:8700" (include "tokenferry.fullname" .)) "" .Values.service.enabled -}}
{{- required "companyData.url is required, unless service.enabled is true" (coalesce .Values.companyData.url $own) -}}
{{- end -}}

{{- define "tokenferry.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .Values.securityContext.runAsUser }}
  runAsGroup: {{ .Values.securityContext.runAsGroup }}
  fsGroup: {{ .Values.securityContext.fsGroup }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "tokenferry.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{- define "tokenferry.probes" -}}
livenessProbe:
  httpGet: { path: /health/live, port: health }
  periodSeconds: 20
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: { path: /health/ready, port: health }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
{{- end -}}

{{- define "tokenferry.logEnv" -}}
- name: TOKENFERRY_LOG_LEVEL
  value: {{ .Values.logLevel }}
{{- end -}}

{{- define "tokenferry.tracesEnv" -}}
{{- with .Values.traces.endpoint -}}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end -}}
{{- end -}}

{{- define "tokenferry.healthEnv" -}}
- name: TOKENFERRY_HEALTH_ADDRESS
  value: '0.0.0.0:{{ .Values.health.port }}'
{{- end -}}

{{- /* Call with (list NAME reference), where the reference has secretName and key. */ -}}
{{- define "tokenferry.secretEnv" -}}
- name: {{ index . 0 }}
  valueFrom:
    secretKeyRef:
      name: {{ (index . 1).secretName }}
      key: {{ (index . 1).key }}
{{- end -}}

{{- define "tokenferry.portalDatabaseEnv" -}}
{{- with .Values.portal }}{{ if .enabled }}
{{- include "tokenferry.secretEnv" (list "PORTAL_DATABASE_URL" .database) }}
{{- end }}{{ end }}
{{- end -}}

{{- /* The identity provider of the portal, for the portal and for workers, which check its ID tokens. */ -}}
{{- define "tokenferry.openIdEnv" -}}
{{- with .Values.portal }}{{ if and .enabled .openId.issuer }}
- name: TOKENFERRY_OPENID_ISSUER
  value: {{ .openId.issuer | quote }}
- name: TOKENFERRY_OPENID_CLIENT_ID
  value: {{ .openId.clientId | quote }}
{{- end }}{{ end }}
{{- end -}}

{{- define "tokenferry.openIdSecret" -}}
{{- with .Values.portal.openId }}{{ if and .issuer .clientSecret.secretName }}
{{- include "tokenferry.secretEnv" (list "TOKENFERRY_OPENID_CLIENT_SECRET" .clientSecret) }}
{{- end }}{{ end }}
{{- end -}}

{{- /* The connection to Temporal. The Temporal Worker Controller sets all of it except the server's CA. */ -}}
{{- define "tokenferry.temporalEnv" -}}
- name: TEMPORAL_ADDRESS
  value: {{ .Values.temporal.address | quote }}
- name: TEMPORAL_NAMESPACE
  value: {{ .Values.temporal.namespace | quote }}
{{- with .Values.temporal.apiKey }}{{ if .secretName }}
{{ include "tokenferry.secretEnv" (list "TEMPORAL_API_KEY" .) }}
{{- end }}{{ end }}
{{- with .Values.temporal.tls }}
{{- if or .enabled .clientCertificate.secretName .serverCa.secretName }}
- name: TEMPORAL_TLS
  value: 'true'
{{- end }}
{{- with .serverName }}
- name: TEMPORAL_TLS_SERVER_NAME
  value: {{ . | quote }}
{{- end }}
{{- if .clientCertificate.secretName }}
- name: TEMPORAL_TLS_CLIENT_CERT_PATH
  value: /etc/tokenferry/temporal/tls.crt
- name: TEMPORAL_TLS_CLIENT_KEY_PATH
  value: /etc/tokenferry/temporal/tls.key
{{- end }}
{{- end }}
{{ include "tokenferry.temporalCaEnv" . }}
{{- end -}}

{{- define "tokenferry.temporalCaEnv" -}}
{{- if .Values.temporal.tls.serverCa.secretName -}}
- name: TEMPORAL_TLS_SERVER_CA_CERT_PATH
  value: /etc/tokenferry/temporal-ca/ca.crt
{{- end -}}
{{- end -}}

{{- /* Call with (list $ isManagedByController). */ -}}
{{- define "tokenferry.temporalMounts" -}}
{{- with (index . 0).Values.temporal.tls -}}
{{- if and .clientCertificate.secretName (not (index $ 1)) }}
- { name: temporal, mountPath: /etc/tokenferry/temporal, readOnly: true }
{{- end }}
{{- if .serverCa.secretName }}
- { name: temporal-ca, mountPath: /etc/tokenferry/temporal-ca, readOnly: true }
{{- end }}
{{- end -}}
{{- end -}}

{{- define "tokenferry.temporalVolumes" -}}
{{- with (index . 0).Values.temporal.tls -}}
{{- if and .clientCertificate.secretName (not (index $ 1)) }}
- name: temporal
  secret: { secretName: {{ .clientCertificate.secretName }}, defaultMode: 0440 }
{{- end }}
{{- with .serverCa }}{{ if .secretName }}
{{ include "tokenferry.fileVolume" (list "temporal-ca" . "ca.crt") }}
{{- end }}{{ end }}
{{- end -}}
{{- end -}}

{{- /* Call with (list name reference file): a folder with one file from a Secret. */ -}}
{{- define "tokenferry.fileVolume" -}}
- name: {{ index . 0 }}
  secret:
    secretName: {{ (index . 1).secretName }}
    defaultMode: 0440
    items:
      - { key: {{ (index . 1).key }}, path: {{ index . 2 }} }
{{- end -}}

{{- define "tokenferry.temporaryVolume" -}}
- name: tmp
  emptyDir: { sizeLimit: 64Mi }
{{- end -}}

{{- /* Spreads the pods of a component over nodes. Call with (list $ component). */ -}}
{{- define "tokenferry.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "tokenferry.selector" . | nindent 8 }}
{{- end -}}

{{- /* Call with (list $ component ingress): an Ingress to the port `http` of the component's Service. */ -}}
{{- define "tokenferry.ingress" -}}
{{- $name := printf "%s-%s" (include "tokenferry.fullname" (index . 0)) (index . 1) -}}
{{- $ingress := index . 2 -}}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ $name }}
  namespace: {{ (index . 0).Release.Namespace }}
  labels:
    {{- include "tokenferry.labels" . | nindent 4 }}
  {{- with $ingress.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with $ingress.className }}
  ingressClassName: {{ . }}
  {{- end }}
  tls:
    - hosts: [{{ $ingress.host | quote }}]
      secretName: {{ $ingress.tlsSecretName }}
  rules:
    - host: {{ $ingress.host | quote }}
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: {{ $name }}
                port: { name: http }
{{- end -}}
