{{- /*
The pod template of a worker. Call with a dict of root, tag, labels (of one version) and isManaged (by the Temporal
Worker Controller, which sets the connection and the version itself).
*/ -}}
{{- define "tokenferry.workerTemplate" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
metadata:
  labels:
    {{- include "tokenferry.selector" (list $root "worker") | nindent 4 }}
    {{- with .labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    # Velero would otherwise copy the vault secrets, which no backup may contain.
    backup.velero.io/backup-volumes-excludes: vault-secrets
    {{- with $values.worker.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- include "tokenferry.podSecurity" $root | nindent 2 }}
  terminationGracePeriodSeconds: {{ $values.worker.terminationGracePeriodSeconds }}
  {{- include "tokenferry.spread" (list $root "worker") | nindent 2 }}
  {{- with $values.worker.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.worker.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: worker
      image: {{ include "tokenferry.image" (list $root "worker" .tag) }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      env:
        {{- if .isManaged }}
        {{- include "tokenferry.temporalCaEnv" $root | nindent 8 }}
        {{- else }}
        {{- include "tokenferry.temporalEnv" $root | nindent 8 }}
        {{- with $values.worker.deploymentName }}
        - name: TOKENFERRY_WORKER_DEPLOYMENT
          value: {{ . | quote }}
        {{- end }}
        {{- end }}
        {{- include "tokenferry.secretEnv" (list "DATABASE_URL" $values.database) | nindent 8 }}
        - name: COMPANY_DATA_URL
          value: {{ include "tokenferry.companyDataUrl" $root | quote }}
        {{- include "tokenferry.secretEnv" (list "COMPANY_DATA_API_KEY" $values.companyData.apiKey) | nindent 8 }}
        - name: TOKENFERRY_MASTER_KEY_FILE
          value: /etc/tokenferry/master/master.key
        - name: TOKENFERRY_PAYLOAD_KEY_FILE
          value: /etc/tokenferry/payload/payload.key
        - name: TOKENFERRY_VAULT_SECRETS
          value: /var/lib/tokenferry/vault-secrets
        {{- with $values.worker.webhook }}{{ if .secretName }}
        {{- include "tokenferry.secretEnv" (list "TOKENFERRY_WEBHOOK_URL" (dict "secretName" .secretName "key" .urlKey)) | nindent 8 }}
        {{- include "tokenferry.secretEnv" (list "TOKENFERRY_WEBHOOK_SECRET" (dict "secretName" .secretName "key" .secretKey)) | nindent 8 }}
        {{- end }}{{ end }}
        {{- include "tokenferry.openIdEnv" $root | nindent 8 }}
        {{- include "tokenferry.healthEnv" $root | nindent 8 }}
        - name: TOKENFERRY_METRICS_MIGRATIONS
          value: {{ $values.worker.metricsMigrations | int | quote }}
        {{- include "tokenferry.tracesEnv" $root | nindent 8 }}
        {{- include "tokenferry.logEnv" $root | nindent 8 }}
      ports:
        - { name: health, containerPort: {{ $values.health.port }} }
      {{- include "tokenferry.probes" $root | nindent 6 }}
      resources:
        {{- toYaml $values.worker.resources | nindent 8 }}
      {{- include "tokenferry.containerSecurity" $root | nindent 6 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: master, mountPath: /etc/tokenferry/master, readOnly: true }
        - { name: payload, mountPath: /etc/tokenferry/payload, readOnly: true }
        - { name: vault-secrets, mountPath: /var/lib/tokenferry/vault-secrets }
        {{- include "tokenferry.temporalMounts" (list $root .isManaged) | nindent 8 }}
  volumes:
    {{- include "tokenferry.temporaryVolume" $root | nindent 4 }}
    {{- include "tokenferry.fileVolume" (list "master" $values.keys.master "master.key") | nindent 4 }}
    {{- include "tokenferry.fileVolume" (list "payload" $values.keys.payload "payload.key") | nindent 4 }}
    - name: vault-secrets
      persistentVolumeClaim:
        claimName: {{ $values.vaultSecrets.existingClaim | default (printf "%s-vault-secrets" (include "tokenferry.fullname" $root)) }}
    {{- include "tokenferry.temporalVolumes" (list $root .isManaged) | nindent 4 }}
{{- end -}}
