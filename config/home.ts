import path from 'node:path';
import envPaths from 'env-paths';

/** Where this user's Tokenferry keeps what must survive: `TOKENFERRY_HOME`, otherwise the platform's folder for data. */
export function homeFolder(fromEnvironment: string | undefined): string {
  return fromEnvironment === undefined ? envPaths('tokenferry', { suffix: '' }).data : path.resolve(fromEnvironment);
}
