import { isLoopback } from './http/proxies.ts';

/** Whether what is read from a URL comes from where it says: who can put themselves in between could make credentials. */
export function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  if (protocol === 'https:') return true;
  const isHere = hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, ''));
  return protocol === 'http:' && isHere;
}
