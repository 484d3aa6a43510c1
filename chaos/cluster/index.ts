/**
 * A cluster on this machine. Each of its processes can be killed, suspended and started again: Temporal's four
 * services, three Postgres servers, the Company Data Service, and two workers. The workers are behind proxies, so they
 * can also be cut off.
 */
export { startCluster, startClusterServers, withCluster, type ClusterOptions, type ClusterServers } from './cluster';
export {
  startHttpProxy,
  type ProxyAction,
  type HttpProxy,
  type RequestFault,
  type ProxiedRequest,
  type InjectedResponse,
} from './http-proxy';
export { credentialDigest, requestLogAt, type RequestLogEntry } from './request-log';
export { resetConnection, startTcpProxy, type TcpProxy } from './tcp-proxy';
export {
  ProcessNotStarted,
  processesOf,
  TEMPORAL_SERVICES,
  type Cluster,
  type Database,
  type ClusterProcess,
  type ServiceProcess,
  type TemporalService,
  type WorkerProcess,
} from './types';
