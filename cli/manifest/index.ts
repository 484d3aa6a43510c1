/** Reading what a client supplies: a manifest of companies and their credentials, as CSV or JSON. */
export { readManifest, type Manifest, type ManifestFiles } from './read-manifest';
export { readCredentials, type Credentials } from './credentials';
export { ManifestDigest, manifestDigest } from './digest';
export type { FindingList } from './findings';
export { type FileSeen, NotShredded, seeFile, shredFile } from './files/shred-file';
export { TEMPLATE_FORMATS, type TemplateFormat, templatesOf, templateText } from './template';
