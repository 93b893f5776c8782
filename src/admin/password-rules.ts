/** The rules for passwords that a person chooses (OWASP ASVS 4.0.3, 2.1). There is none about kinds of characters. */
export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 128;
/** Earlier versions accepted passwords of this length, which still work. The time of hashing grows with the length. */
export const MAX_READ_PASSWORD_LENGTH = 200;

/** Returns what makes a password easy to guess, as the end of a sentence; undefined if nothing is known. */
export async function findPasswordWeakness(password: string): Promise<string | undefined> {
  if (password.length < MIN_PASSWORD_LENGTH) return `has fewer than ${MIN_PASSWORD_LENGTH} characters`;
  // Loaded when it is needed, because it takes 7 MB of memory: 49,000 passwords, the most common ones first.
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  const isCommon = dictionary['passwords-common'].includes(visibleLetters(password));
  return isCommon ? 'is one of the most common passwords' : undefined;
}

/** The fewest characters of a password that continue neither a repeat nor a sequence. */
const MIN_SURPRISES = 6;

/** Alphabet, digits, and the rows of keyboards, in which people type sequences. */
const sequences = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'azerty',
  'qwertz',
];

/**
 * Returns what makes a password of the environment easy to guess although its length is right: repeats and sequences, or the names of the
 * product and of its account with digits.
 */
export function findPatternWeakness(password: string, account: string): string | undefined {
  const text = visibleLetters(password);
  const surprises = [...text].filter((letter, at) => at === 0 || !isContinued(text[at - 1] ?? '', letter));
  if (surprises.length < MIN_SURPRISES) return 'consists of repeats and sequences mostly';
  const letters = text.replace(/\P{L}/gu, '');
  const names = ['jetbridge', 'administrator', account.toLowerCase(), 'travel', 'scim'];
  const rest = names.reduce((left, name) => left.replaceAll(name, ''), letters);
  return rest.length < letters.length && rest.length < MIN_OTHER_LETTERS
    ? 'consists of the name of the product or of the account, with digits'
    : undefined;
}

/** The fewest letters beside the names that make a password hard to guess. */
const MIN_OTHER_LETTERS = 5;

function isContinued(before: string, letter: string): boolean {
  const isNext = (pair: string) => sequences.some((sequence) => sequence.includes(pair));
  return before === letter || isNext(before + letter) || isNext(letter + before);
}

/** Returns the form in which passwords are compared: lower case, without spaces and invisible characters, which a guess adds easily. */
function visibleLetters(password: string): string {
  return password
    .normalize('NFKC')
    .replace(/[\p{Cf}\s]/gu, '')
    .toLowerCase();
}
