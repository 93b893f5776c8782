/** The address of the difference between a version of a mapping and the one before it. */
export function versionHref(connection: string, version: number | undefined): string {
  const query = new URLSearchParams({
    connection,
    ...(version !== undefined && { version: String(version) }),
  });
  return `~/admin/mappings?${query}`;
}
