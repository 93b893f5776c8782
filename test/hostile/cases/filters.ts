import { type Hostile, request } from '../request.ts';

/** Malformed and malicious filters on users and groups, in the URL. */
export const filters: Hostile[][] = [
  unreadable().flatMap((filter) => [at('/Users', filter, 400), at('/Groups', filter, 400)]),
  unknown().map((filter) => at('/Users', filter, 400)),
  costly().map((filter) => at('/Users', filter, 200)),
];

function at(path: string, filter: string, status: number): Hostile {
  return {
    title: `filter at ${path}: ${JSON.stringify(filter).slice(0, 90)} (${filter.length})`,
    bytes: request('GET', `${path}?filter=${encoded(filter)}`),
    status,
    ...(status === 400 ? { scimType: 'invalidFilter' } : {}),
  };
}

/** A short path leaves room for long filters: URL and headers are limited to 16 KB. */
function encoded(filter: string): string {
  return encodeURIComponent(filter).replaceAll('%20', '+');
}

function unreadable(): string[] {
  const deep = (open: string, close: string, times: number) =>
    `${open.repeat(times)}id pr${close.repeat(times)}`;
  return [
    // A bracket takes three characters when it is percent-encoded.
    deep('(', ')', 4000),
    deep('(', ')', 51),
    deep('not (', ')', 1000),
    '('.repeat(4500),
    ')'.repeat(4500),
    deep('(', '', 3000),
    deep('', ')', 3000),
    'emails['.repeat(1000),
    `emails[${'type eq "a" and '.repeat(300)}`,
    Array(501).fill('id pr').join(' or '),
    Array(1500).fill('id pr').join(' and '),
    // Inputs for which the regular expressions of scimmy take exponential time.
    `x eq "${'\n'.repeat(30)}`,
    `x eq "${'\\a'.repeat(2000)}`,
    `id eq "${'\\'.repeat(5000)}`,
    `id eq "${'\\"'.repeat(1500)}`,
    `id eq "${'a'.repeat(9000)}`,
    ...[
      '',
      ' ',
      '\t',
      '"',
      '""',
      '\\',
      '"id" pr',
      'id',
      'id eq',
      'id eq "x" and',
      'id eq "x" or',
      'and',
      'or',
      'not',
      'not id pr',
      'not()',
      '()',
      '[]',
      'pr',
      'eq "x"',
      'id eq eq "x"',
      'id "x"',
      "id eq 'x'",
      'id eq "x" "y"',
      'id eq "x" id pr',
      'id pr and and id pr',
      'id pr or or id pr',
      'id pr and or id pr',
      'id == "x"',
      'id = "x"',
      'id eq "x";',
      'id eq "x"--',
      'id eq "\\x"',
      'id eq "\\u00"',
      'id eq "\u0000"',
      'id eq "\\u0000"',
      'id eq "\n"',
      'id eq and',
      'id eq $x',
      'id eq x;',
      'id eq 5%',
      'id eq é',
      'id gt x',
      'id ne x',
      'id eq 1e400',
      'id eq 9007199254740993',
      'id eq [1]',
      'id eq {"a":1}',
      'id eq ("x")',
      'id.',
      '.id pr',
      'id..x pr',
      'a.b.c pr',
      '1d pr',
      '-id pr',
      'i$d pr',
      'i d pr',
      'emails[] pr',
      'emails[type] pr',
      'emails[type eq "x"',
      'emails type eq "x"]',
      'emails[type eq "x"]]',
      'emails[[type eq "x"]]',
      'emails[emails[type eq "x"]]',
      'emails[type eq "x"].',
      'emails[type eq "x"]value pr',
      'emails[type eq "x"].a.b pr',
      'emails.value[type eq "x"] pr',
      'urn: pr',
      'urn::: pr',
      'urn:ietf:params:scim:schemas:core:2.0:User: pr',
      `${'a'.repeat(5000)} pr`,
      `urn:${'a:'.repeat(3000)}b pr`,
      `urn:x:y:${'2.'.repeat(2000)}0:z:a pr`,
      'id eq "x" -- comment',
      "id eq \"x\" or '1'='1'",
      '$where pr',
      '__proto__ pr',
      'constructor.prototype pr',
      '\ufeffid pr',
      'ïd pr',
      'id\u00a0pr',
      'id\u2003eq "x"',
    ],
  ];
}

/** Well-formed filters on unknown attributes. */
function unknown(): string[] {
  return [
    'toString pr',
    'hasOwnProperty eq "x"',
    'favoriteColor eq "red"',
    'title[type eq "x"]',
    'title.value eq "x"',
    'meta.created gt "not a date"',
    'meta.lastModified le ""',
    'meta.created gt "+275760-09-13T00:00:00.001Z"',
    'active gt true',
    'active co "t"',
    'active eq "perhaps"',
    'active eq 1',
    'password pr',
    'password eq "x"',
    'x509Certificates.value gt "a"',
  ];
}

/** Valid filters that are expensive for a naive implementation. */
function costly(): string[] {
  const many = (count: number, term: string, word: string) =>
    Array.from({ length: count }, () => term).join(word);
  const groups = Array.from({ length: 16 }, (_, n) => `(title eq "a${n}" or title eq "b${n}")`).join(' and ');
  return [
    `${'('.repeat(50)}id pr${')'.repeat(50)}`,
    `${'not ('.repeat(49)}id pr${')'.repeat(49)}`,
    many(450, 'title co "x"', ' or '),
    many(450, 'title pr', ' and '),
    many(450, 'emails[type eq "x"]', ' or ')
      .slice(0, 8000)
      .replace(/ or [^ ]*$|\[[^\]]*$/, ''),
    // Sixteen disjunctions of two: 65,536 terms in disjunctive normal form.
    groups,
    `displayName co "${'a'.repeat(9000)}"`,
    `displayName ew "${'ab'.repeat(4000)}"`,
    `userName eq "${'%_'.repeat(2000)}"`,
    'userName co "%" or userName co "_" or userName co "\\\\"',
    'id eq "\' or 1=1 --"',
    'urn:example:acme:2.0:User:constructor pr',
    'urn:example:acme:2.0:User:a[b eq 1 and c ne null] and not (urn:example:acme:2.0:User pr)',
    'id eq null or id ne null or id eq true or id eq -0 or id eq 1.5e0 or id eq 999999999999999',
    'id eq "\ud83d\ude00" or id eq "\\ud800"',
  ];
}
