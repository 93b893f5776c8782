import { parseArgs } from 'node:util';
import { peerFault } from './peer-gateway.mjs';

/** The parts that need no peer. All of them are measured unless `--only` names some. */
const PARTS = ['read', 'write', 'import', 'memory', 'lists', 'log', 'durable', 'cycle', 'fairness'];

const USAGE = `npm run bench -- [options]
  --users 1000,100000   sizes to measure, the smallest is the one the others are compared with
  --rounds 5            how often everything is measured; the spread is that of the rounds
  --only read,write     parts: ${PARTS.join(', ')}
  --peer FOLDER         compares with jelhub/scimgateway: a checkout with its packages; alone unless --only names more
  --database URL        measures the peer's and the cycle's operations on PostgreSQL, too; each in a database of its own
  --json FILE           writes every round's figures
  --data FOLDER         keeps the data there, and uses what an earlier run kept
  --help                prints this
`;

/** Reads the command line. Returns the options, or a text to print and the exit code. */
export function readOptions(words) {
  try {
    const { values } = parseArgs({
      args: words,
      options: {
        users: { type: 'string', default: '1000,100000' },
        rounds: { type: 'string', default: '5' },
        only: { type: 'string' },
        peer: { type: 'string' },
        database: { type: 'string' },
        json: { type: 'string' },
        data: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) return { text: USAGE, exit: 0 };
    const { json, data, peer } = values;
    const fault = peer === undefined ? undefined : peerFault(peer);
    if (fault) return { text: `${fault}\n`, exit: 2 };
    const users = values.users.split(',').map((text) => whole(text, 'users', 400));
    return {
      users: [...new Set(users)].sort((one, other) => one - other),
      rounds: whole(values.rounds, 'rounds', 1),
      only: partsOf(values),
      database: postgres(values.database),
      ...{ json, data, peer },
    };
  } catch (error) {
    return { text: `${error.message}\n${USAGE}`, exit: 2 };
  }
}

function whole(text, name, least) {
  if (/^\d+$/.test(text) && Number(text) >= least) return Number(text);
  throw new Error(`--${name}: "${text}" is no whole number from ${least} on.`);
}

function partsOf({ only, peer }) {
  if (only !== undefined) return only.split(',').map(part);
  return peer === undefined ? PARTS : [];
}

function part(name) {
  if (PARTS.includes(name)) return name;
  throw new Error(`--only: "${name}" is none of ${PARTS.join(', ')}.`);
}

function postgres(url) {
  if (url === undefined || /^postgres(ql)?:\/\//.test(url)) return url;
  throw new Error('--database: the URL does not begin with postgres://.');
}
