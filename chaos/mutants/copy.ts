/** Copies the compiled product and edits the copy. */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Edit } from './mutants';

/** The folder that contains `dist/`, `node_modules/` and `package.json`. */
const ROOT = path.join(__dirname, '..', '..', '..');

/**
 * Copies the compiled product into the folder, and edits the copy.
 *
 * @param folder is created; must not exist
 * @returns the path of the edited `dist/`
 * @throws if the text of an edit does not occur exactly once
 */
export function copyBuild(folder: string, edits: readonly Edit[]): string {
  const dist = path.join(folder, 'dist');
  mkdirSync(folder, { recursive: true });
  cpSync(path.join(ROOT, 'dist'), dist, { recursive: true, filter: (file) => !file.endsWith('.map') });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  cpSync(path.join(ROOT, 'package.json'), path.join(folder, 'package.json'));
  for (const edit of edits) {
    const target = path.join(dist, edit.file);
    writeFileSync(target, withEdit(readFileSync(target, 'utf8'), edit));
  }
  return dist;
}

/** @throws if the text of the edit does not occur exactly once */
export function withEdit(text: string, { file, before, after }: Edit): string {
  return replaceOnce(`dist/${file}`, text, before, after);
}

/**
 * Replaces `before` in a text with `after`.
 *
 * @param file the name of the text, for the error
 * @throws if `before` does not occur exactly once
 */
export function replaceOnce(file: string, text: string, before: string, after: string): string {
  const at = text.indexOf(before);
  if (at < 0 || text.includes(before, at + 1)) throw new Error(`${file} must contain this exactly once: ${before}`);
  return text.slice(0, at) + after + text.slice(at + before.length);
}
