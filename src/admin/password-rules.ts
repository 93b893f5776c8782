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

/** Returns the form in which passwords are compared: lower case, without spaces and invisible characters, which a guess adds easily. */
function visibleLetters(password: string): string {
  return password
    .normalize('NFKC')
    .replace(/[\p{Cf}\s]/gu, '')
    .toLowerCase();
}
