import { readFileSync } from 'node:fs';
import { KeyInvalid, Secret, type KeyRing } from '../security';
import type { Environment } from './environment';

/** Where keys of one purpose are looked for: in a variable, in a file, or in the running stack's file. */
interface KeySource {
  readonly variable: 'TOKENFERRY_MASTER_KEY' | 'TOKENFERRY_PAYLOAD_KEY';
  readonly parse: (text: Secret) => KeyRing;
  readonly ofStack: { readonly name: string; readonly file: string } | undefined;
}

export function readKeys(
  environment: Environment,
  { variable, parse, ofStack }: KeySource,
  problems: string[],
): KeyRing | undefined {
  const text = environment[variable];
  const file = environment[`${variable}_FILE`];
  if (text !== undefined && file !== undefined) {
    problems.push(`${variable} and ${variable}_FILE are both set: set one of them.`);
    return undefined;
  }
  if (text !== undefined) return parsed(variable, text);
  if (file !== undefined) return fromFile(`${variable}_FILE`, file);
  return ofStack && fromFile(ofStack.name, ofStack.file);

  function fromFile(name: string, path: string): KeyRing | undefined {
    let content: string;
    try {
      content = readFileSync(path, 'utf8');
    } catch (error) {
      problems.push(`${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
    return parsed(`${name} (${path})`, content);
  }

  function parsed(name: string, content: string): KeyRing | undefined {
    try {
      return parse(new Secret(content));
    } catch (error) {
      if (!(error instanceof KeyInvalid)) throw error;
      problems.push(`${name}: ${error.message}`);
      return undefined;
    }
  }
}
