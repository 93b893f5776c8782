import { catalog } from '../travel/catalog.ts';
import { openapi } from '../travel/openapi/document.ts';
import type { Shell } from './exit.ts';

/** Prints the contract of the travel service, for programs that make clients and checks of it. */
export async function printOpenapi({ environment, print }: Shell): Promise<0> {
  print(JSON.stringify(openapi(catalog, environment['PUBLIC_URL']), null, 2));
  return 0;
}
