// npm run bench: loads real processes and prints what they cost, as ratios (docs/performance.md describes the method).
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { client } from './client.mjs';
import { contendersOf, nextNumber, startReferences } from './contenders.mjs';
import { measureCycle } from './cycle.mjs';
import { measureDurable } from './durable.mjs';
import { measureFairness } from './fairness.mjs';
import { measureImports } from './imports.mjs';
import { measureLists } from './lists.mjs';
import { measure } from './measure.mjs';
import { operations } from './operations.mjs';
import { readOptions } from './options.mjs';
import { measurePeer } from './peer.mjs';
import { printProgress } from './progress.mjs';
import { report } from './report.mjs';
import { measureRequestLog } from './request-log.mjs';
import { service } from './service.mjs';
import { chooseTargets } from './targets.mjs';
import { workplace } from './workplace.mjs';

/** The parts that need a service on data of each size. */
const ON_SIZES = ['read', 'write', 'import', 'memory'];

const options = readOptions(process.argv.slice(2));
if (options.text) {
  (options.exit === 0 ? process.stdout : process.stderr).write(options.text);
  process.exit(options.exit);
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

/** Measures the chosen parts and prints the results. Returns the exit code: 1 if a measurement failed. */
async function bench(chosen, place) {
  const failures = [];
  const attempt = (work) => work().catch((error) => void failures.push(error.message));
  const results = await measureSizes(chosen, { place, failures, attempt });
  for (const [name, isAsked, work] of otherParts(chosen, place)) {
    if (isAsked) results[name] = await attempt(work);
  }
  process.stdout.write(`${report(results)}\n`);
  if (chosen.json) writeFileSync(chosen.json, JSON.stringify(figures(results), undefined, 2));
  for (const failure of failures) process.stderr.write(`not measured: ${failure}\n`);
  return failures.length > 0 ? 1 : 0;
}

/** The parts that start the measured programs themselves. */
function otherParts({ only, users, rounds, peer, database }, place) {
  return [
    ['lists', only.includes('lists'), () => measureLists(place, users)],
    ['log', only.includes('log'), () => measureRequestLog(place, rounds)],
    ['durable', only.includes('durable'), () => measureDurable(place, rounds)],
    ['cycle', only.includes('cycle'), () => measureCycle(place, database)],
    ['fairness', only.includes('fairness'), () => measureFairness(place)],
    ['peer', peer !== undefined, () => measurePeer(place, { peer, database, rounds })],
  ];
}

/** Measures requests, imports and memory on data of each size. */
async function measureSizes({ users, rounds, only }, { place, failures, attempt }) {
  const services = [];
  if (only.some((part) => ON_SIZES.includes(part)))
    for (const size of users) services.push(await service(place, size));
  const chosen = operations.filter(({ part }) => only.includes(part));
  const measured = chosen.length > 0 ? await measureAll({ chosen, services, rounds, failures }, place) : [];
  const imports = only.includes('import')
    ? await attempt(() => measureImports(place, services, rounds))
    : undefined;
  for (const one of services) one.atEnd = await one.usage();
  return { measured, services, imports };
}

async function measureAll({ chosen, services, rounds, failures }, place) {
  const writes = chosen.some(({ part }) => part === 'write');
  const { send, close } = client(1);
  for (const one of services) {
    printProgress(`${one.size} users: reading the people`);
    one.targets = await chooseTargets(one, { send }, { run: nextNumber(), writes });
  }
  close();
  const others = await startReferences(place, services, chosen);
  const measured = [];
  for (const operation of chosen) {
    printProgress(operation.name);
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
function figures({ measured, services, peer, ...others }) {
  return {
    node: process.version,
    machine: `${process.platform} ${process.arch}, ${cpus().length} x ${cpus()[0]?.model}`,
    operations: measured.map(({ operation, rounds }) => ({ name: operation.name, rounds })),
    services: services.map(({ size, startMs, settledMs, firstImport, atRest, atEnd }) => {
      return { users: size, startMs, settledMs, firstImport, atRest, atEnd };
    }),
    peer: peer && {
      version: peer.version,
      operations: peer.measured.map(({ operation: { name, most }, ...one }) => ({ name, most, ...one })),
    },
    ...others,
  };
}
