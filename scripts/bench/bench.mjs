// npm run bench: loads real processes and prints what they cost, as ratios (docs/performance.md tells how it is done).
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { castOf } from './cast.mjs';
import { client } from './client.mjs';
import { contendersOf, nextNumber, rivals } from './contenders.mjs';
import { measureImports } from './imports.mjs';
import { measureLists } from './lists.mjs';
import { measure } from './measure.mjs';
import { operations } from './operations.mjs';
import { readOptions } from './options.mjs';
import { say } from './progress.mjs';
import { report } from './report.mjs';
import { measureRequestLog } from './request-log.mjs';
import { service } from './service.mjs';
import { workplace } from './workplace.mjs';

const options = readOptions(process.argv.slice(2));
if (typeof options === 'string') {
  process.stderr.write(options);
  process.exit(2);
}
const place = workplace(options.data);
let exit;
try {
  exit = await Promise.race([bench(options, place), ended('SIGINT', 130), ended('SIGTERM', 143)]);
} catch (error) {
  process.stderr.write(`${error.stack}\n`);
  exit = 1;
}
await place.close();
process.exit(exit);

async function ended(signal, code) {
  await once(process, signal);
  return code;
}

/** Measures what is asked for and prints it; answers the exit code, 1 when something could not be measured. */
async function bench({ users, rounds, only, json }, place) {
  const services = [];
  const alone = only.every((part) => part === 'lists' || part === 'log');
  if (!alone) for (const size of users) services.push(await service(place, size));
  const failures = [];
  const asked = operations.filter(({ part }) => only.includes(part));
  const measured = asked.length > 0 ? await measureAll({ asked, services, rounds, failures }, place) : [];
  const imports = only.includes('import')
    ? await measureImports(place, services, rounds).catch((error) => void failures.push(error.message))
    : undefined;
  for (const one of services) one.atEnd = await one.usage();
  const lists = only.includes('lists')
    ? await measureLists(place, users).catch((error) => void failures.push(error.message))
    : undefined;
  const log = only.includes('log')
    ? await measureRequestLog(place, rounds).catch((error) => void failures.push(error.message))
    : undefined;
  process.stdout.write(`${report({ measured, services, imports, lists, log })}\n`);
  if (json)
    writeFileSync(json, JSON.stringify(figures({ measured, services, imports, lists, log }), undefined, 2));
  for (const failure of failures) process.stderr.write(`not measured: ${failure}\n`);
  return failures.length > 0 ? 1 : 0;
}

async function measureAll({ asked, services, rounds, failures }, place) {
  const writes = asked.some(({ part }) => part === 'write');
  const { send, close } = client(1);
  for (const one of services) {
    say(`${one.size} users: learning who is there`);
    one.cast = await castOf(one, { send }, { run: nextNumber(), writes });
  }
  close();
  const others = await rivals(place, services, asked);
  const measured = [];
  for (const operation of asked) {
    say(operation.name);
    const contenders = contendersOf(operation, { services, ...others });
    if (contenders.length === 0) continue;
    try {
      const { connections } = operation;
      measured.push({ operation, rounds: await measure(contenders, { rounds, connections }) });
    } catch (error) {
      failures.push(`${operation.name}: ${error.message}`);
    }
  }
  return measured;
}

/** The content of the file of --json: every round, in microseconds of CPU, requests per second, bytes and milliseconds. */
function figures({ measured, services, imports, lists, log }) {
  return {
    node: process.version,
    machine: `${process.platform} ${process.arch}, ${cpus().length} x ${cpus()[0]?.model}`,
    operations: measured.map(({ operation: { name, most, aim }, rounds }) => ({ name, most, aim, rounds })),
    services: services.map(({ size, startMs, settledMs, firstImport, atRest, atEnd }) => {
      return { users: size, startMs, settledMs, firstImport, atRest, atEnd };
    }),
    imports,
    lists,
    log,
  };
}
