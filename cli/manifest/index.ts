/**
 * Reads the files that a client supplies: a manifest of companies and their credentials, as CSV or JSON.
 *
 * `readManifest` and `readCredentials` check a whole file and collect its errors. Rows are then read from the file
 * again, one at a time, and are never all in memory. The path of a row: `source-file` (bytes to text), and in
 * domain/supply `csv-table` or `json-table` (text to cells), `columns` (cells to fields), `row-reader` (checked
 * fields), `row-parser` (company or credential).
 */
export { readCredentials, readManifest, type Credentials, type Manifest, type ManifestFiles } from './read-manifest';
export { FileChanged } from './row-file';
export { manifestDigest } from '../../store';
export { CredentialMatcher } from './whole-manifest';
export { HashedKeyMap } from './hashed-key-map';
export { obtainedAtProblem, type CredentialTimes } from '../../domain/supply/row-parser';
export { FindingList } from '../../domain/supply/findings';
export { TEMPLATE_FORMATS, type TemplateFormat, templatesOf, templateText } from '../../domain/supply/template';
export { addFileOptions, disposeOf, type Disposal, type ShredOption } from './shred-file';
export { type FileIdentity, identifyFile, NotShredded, shredFile } from './shred-file';
export {
  isSealedFile,
  readSealedApplication,
  readSealedCredentials,
  writeSealedApplication,
  writeSealedCredentials,
} from './sealed-file';
export { addEncoding, type Encoding, type EncodingOption } from './encoding';
