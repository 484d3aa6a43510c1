/** The cookies of the portal. */
import type { IncomingHttpHeaders } from 'node:http';

/** Browsers accept a cookie with this prefix only with `Secure` and `Path=/`, and send it only to this host. */
type CookieName = `__Host-${string}`;

/** Returns the value of a cookie; undefined unless there is exactly one with this name. */
export function cookieIn({ cookie = '' }: IncomingHttpHeaders, name: CookieName): string | undefined {
  const values = cookie
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each.startsWith(`${name}=`))
    .map((each) => each.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

/** Returns the header `set-cookie`. */
export function cookieOf(name: CookieName, value: string, lifetimeS: number): string {
  return `${name}=${value}; Path=/; Max-Age=${lifetimeS}; Secure; HttpOnly; SameSite=Strict`;
}

/** Returns the header `set-cookie` that deletes a cookie. */
export const expiredCookie = (name: CookieName): string => cookieOf(name, '', 0);
