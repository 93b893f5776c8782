import { parseArgs } from 'node:util';

/** What can be measured; everything unless asked otherwise. */
const PARTS = ['read', 'write', 'import', 'memory', 'lists', 'log'];

const USAGE = `npm run bench -- [options]
  --users 1000,100000   sizes to measure, the smallest is the one the others are compared with
  --rounds 5            how often everything is measured; the spread is that of the rounds
  --only read,write     parts: ${PARTS.join(', ')}
  --json FILE           writes every round's figures
  --data FOLDER         keeps the data there, and uses what an earlier run kept
`;

/** Reads the command line; a text instead of the options tells what is wrong with it. */
export function readOptions(words) {
  try {
    const { values } = parseArgs({
      args: words,
      options: {
        users: { type: 'string', default: '1000,100000' },
        rounds: { type: 'string', default: '5' },
        only: { type: 'string', default: PARTS.join(',') },
        json: { type: 'string' },
        data: { type: 'string' },
      },
    });
    const users = values.users.split(',').map((text) => whole(text, 'users', 400));
    return {
      users: [...new Set(users)].sort((one, other) => one - other),
      rounds: whole(values.rounds, 'rounds', 1),
      only: values.only.split(',').map(part),
      json: values.json,
      data: values.data,
    };
  } catch (error) {
    return `${error.message}\n${USAGE}`;
  }
}

function whole(text, name, least) {
  if (/^\d+$/.test(text) && Number(text) >= least) return Number(text);
  throw new Error(`--${name}: "${text}" is no whole number from ${least} on.`);
}

function part(name) {
  if (PARTS.includes(name)) return name;
  throw new Error(`--only: "${name}" is none of ${PARTS.join(', ')}.`);
}
