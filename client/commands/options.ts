import { InvalidArgumentError, Option } from 'commander';

import { findPlatform, PLATFORMS, type Platform } from '../../domain/platforms';
import { nearest } from '../spelling';

/** Those of the managed route: what people are likely to look for. */
const MANAGED = PLATFORMS.filter(({ routes }) => routes.includes('managed'))
  .map(({ slug }) => slug)
  .join(', ');

/** `--platform quickbooks-online`: which platform the companies come from. */
export function platformOption(): Option {
  return new Option('-p, --platform <name>', `the platform that the companies come from: ${MANAGED}, ...`)
    .argParser(parsePlatform)
    .makeOptionMandatory();
}

function parsePlatform(text: string): Platform {
  const platform = findPlatform(text);
  if (platform) return platform;
  const slugs = PLATFORMS.map(({ slug }) => slug);
  const near = nearest(text, slugs);
  throw new InvalidArgumentError(near === undefined ? `Platforms are: ${slugs.join(', ')}.` : `Did you mean ${near}?`);
}
