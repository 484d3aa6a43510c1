/**
 * Keeps the page's files in memory, with compressed copies. The files are few and small. They are read only once, so
 * that requests do not access the file system.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

export interface PageFile {
  readonly type: string;
  readonly plain: Buffer;
  /** Absent if compression does not make the file smaller, or the type is already compressed. */
  readonly br?: Buffer;
  readonly gzip?: Buffer;
  /** A hash of the content, for a strong ETag of each encoding. */
  readonly hash: string;
  /** True if the file's name contains a hash of its content. */
  readonly isImmutable: boolean;
}

/** The files by their path below the root, for example `index.html` and `assets/main-4F2A6C3B.js`. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};
const COMPRESSED = new Set(['.png', '.ico', '.woff2']);
const HASHED_NAME = /-[A-Z0-9]{8}\.\w+$/;

/** Reads the files of a folder, if it exists. Files of an unknown type, such as source maps, are left out. */
export function readPageFiles(folder: string): PageFiles {
  if (!existsSync(folder)) return new Map();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.flatMap((entry): [string, PageFile][] => {
    const file = path.join(entry.parentPath ?? entry.path, entry.name);
    const name = path.relative(folder, file).split(path.sep).join('/');
    const extension = path.extname(name);
    const type = TYPES[extension];
    return type === undefined ? [] : [[name, pageFile(readFileSync(file), name, extension, type)]];
  });
  return new Map(files);
}

function pageFile(plain: Buffer, name: string, extension: string, type: string): PageFile {
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  const file = { type, plain, hash, isImmutable: HASHED_NAME.test(name) };
  if (COMPRESSED.has(extension)) return file;
  const br = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: plain.length } });
  const gzip = gzipSync(plain, { level: 9 });
  return { ...file, ...(br.length < plain.length && { br }), ...(gzip.length < plain.length && { gzip }) };
}
