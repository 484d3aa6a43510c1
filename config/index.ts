/** Configuration: read and checked once, at the start of a process, and handed on from there. */
export { ConfigurationError, loadConfig, type Config, type Part } from './load';
export { signingKeyFile } from './signing-key';
export { readRunningStack, removeRunningStack, stackFile, writeRunningStack, type RunningStack } from './running-stack';
export type { TemporalConfig } from './temporal';
