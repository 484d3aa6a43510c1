/** Reading what a client supplies: a manifest of companies and their credentials, as CSV or JSON. */
export { readManifest, readCredentials, type Credentials, type Manifest, type ManifestFiles } from './read-manifest';
export { manifestDigest } from './digest';
