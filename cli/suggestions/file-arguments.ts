/** Names the files of a client in suggested commands, with the options with which they were read. */
import type { Platform } from '../../platforms/platforms';
import { checkAllCommand, WITH_YOUR_MANIFEST } from '../../domain/preflight/findings';
import type { EncodingOption, ManifestFiles } from '../manifest';
import { shellQuoted } from '../../domain/text/shell-quoted';

interface ReadWith extends EncodingOption {
  readonly obtainedAt?: Date;
}

/** Returns the arguments that read a file in the same way again: its name, its encoding, the time of its export. */
export function fileArguments(file: string, { encoding, obtainedAt }: ReadWith): string {
  return [
    shellQuoted(file),
    ...encodingWords(encoding),
    ...(obtainedAt ? ['--obtained-at', obtainedAt.toISOString()] : []),
  ].join(' ');
}

/** Returns the arguments that start a migration with the same files. */
export function startArguments(
  manifest: string,
  { credentials, ...read }: ReadWith & Pick<ManifestFiles, 'credentials'>,
): string {
  const separate = credentials === undefined ? [] : ['--credentials', shellQuoted(credentials)];
  return [fileArguments(manifest, read), ...separate].join(' ');
}

/** Returns the command that checks these files again. */
export function checkCommand({ manifest, credentials, encoding }: ManifestFiles, { slug }: Platform): string {
  const check = `ferry check ${shellQuoted(manifest)} --platform ${slug}`;
  const separate = credentials === undefined ? [] : ['--credentials', shellQuoted(credentials)];
  return [check, ...separate, ...encodingWords(encoding)].join(' ');
}

const encodingWords = (encoding: EncodingOption['encoding']): readonly string[] =>
  encoding === undefined ? [] : ['--encoding', encoding];

/** Returns how to list all findings in these files. */
export const listAllFindings = (files: ManifestFiles, platform: Platform): { readonly command: string } => ({
  command: `${checkCommand(files, platform)} --all-findings`,
});

/**
 * Names the file of this machine in the advice of a preflight. Workers do not know the name, so their advice contains
 * an example, and asks for the manifest and its encoding.
 */
export function withCheckedFile<Checked extends Advice>(
  checked: Checked,
  files: ManifestFiles,
  platform: Platform,
): Checked {
  const named = (texts: readonly string[] | undefined) =>
    texts?.map((text) =>
      text.replace(WITH_YOUR_MANIFEST, '').replace(checkAllCommand(platform.slug), () => checkCommand(files, platform)),
    );
  const [advice, warningAdvice] = [named(checked.advice), named(checked.warningAdvice)];
  return { ...checked, ...(advice && { advice }), ...(warningAdvice && { warningAdvice }) };
}

interface Advice {
  readonly advice?: readonly string[];
  readonly warningAdvice?: readonly string[];
}
