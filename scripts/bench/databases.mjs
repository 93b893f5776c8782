import { randomBytes } from 'node:crypto';

/**
 * Creates an empty database on the PostgreSQL server of a URL, which is dropped at the end of the run, and returns its URL. The
 * role of the URL must be allowed to create databases.
 */
export async function emptyDatabase(place, url) {
  const name = `jetbridge_bench_${randomBytes(6).toString('hex')}`;
  await execute(url, `create database ${name}`);
  place.onClose(() => execute(url, `drop database if exists ${name} with (force)`));
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
}

async function execute(url, statement) {
  const { Client } = (await import('pg')).default;
  const connection = new Client({ connectionString: url });
  await connection.connect();
  await connection.query(statement).finally(() => connection.end());
}
