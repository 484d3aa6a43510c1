/**
 * Hooks that load the resources of a path. They run before the body is read, so that a request for an unknown or
 * foreign resource is answered with 404 or 403 even if its body is invalid.
 */
import type { onRequestAsyncHookHandler } from 'fastify';
import { z } from 'zod';
import { PLATFORMS, type Platform as PlatformEntry } from '../../platforms/platforms';
import { findCompany } from '../companies/companies';
import type { ServiceContext } from './context';
import { notAnAdministrator, foreignResource, notFound } from './errors/errors';

const UuidSchema = z.guid();

export const CompanyPathSchema = z.object({ companyId: z.string() });
export const ConnectionPathSchema = CompanyPathSchema.extend({ connectionId: z.string() });

export const administratorOnly: onRequestAsyncHookHandler = async (request) => {
  if (request.caller.role !== 'administrator') throw notAnAdministrator();
};

/** Loads the path's company with its connections. */
export function loadCompany({ db }: ServiceContext): onRequestAsyncHookHandler {
  return async (request) => {
    const { companyId } = CompanyPathSchema.parse(request.params);
    // Treat a malformed id as unknown.
    const company = isUuid(companyId) ? await findCompany(db, companyId) : undefined;
    if (!company) throw notFound(`Company ${companyId}`);
    if (company.account_id !== request.caller.accountId) throw foreignResource();
    request.company = company;
  };
}

/** Loads the path's connection from the company that `loadCompany` has loaded. */
export const loadConnection: onRequestAsyncHookHandler = async (request) => {
  const { connectionId } = ConnectionPathSchema.parse(request.params);
  const connection = request.company.connections.find(({ id }) => id === connectionId.toLowerCase());
  if (!connection) throw notFound(`Connection ${connectionId} of company ${request.company.id}`);
  request.connection = connection;
};

/**
 * Returns a platform's entry in the platform table.
 *
 * @param kind the word for the platform in the error
 * @throws ServiceError 404
 */
export function platformAt(platformKey: string, kind: 'Platform' | 'Integration'): PlatformEntry {
  const platform = PLATFORMS.find(({ key }) => key === platformKey);
  if (!platform) throw notFound(`${kind} ${platformKey}`);
  return platform;
}

export function isUuid(text: string): boolean {
  return UuidSchema.safeParse(text).success;
}
