import type { Role } from '../../store/credentials/admins.ts';
import { SignInFailure } from './failures.ts';

/** A role is given to everybody who has one of the values in the claim. */
export interface RoleRule {
  claim: string;
  values: string[];
}

/** The rules that decide which people may sign in through the OpenID provider, and in which role. */
export interface AdmissionRules {
  /** The claim with the name of a person. */
  nameClaim: string;
  admins?: RoleRule | undefined;
  viewers?: RoleRule | undefined;
}

/** The claims of an ID token after all checks. */
export interface PersonClaims {
  iss: string;
  sub: string;
  [claim: string]: unknown;
}

/** A person whom the provider has identified. */
export interface Person {
  /** The issuer, a space, and the claim `sub`. */
  subject: string;
  name: string;
  /** Undefined if the rules give none. */
  role: Role | undefined;
}

/**
 * Returns a name as lists and the audit log show it. Names of an OpenID provider are chosen there, and may look like that of the built-in
 * admin: they are followed by the host of their issuer.
 */
export function shownName({ name, subject }: { name: string; subject: string | undefined }): string {
  if (subject === undefined) return name;
  // No URL has a space.
  const [issuer = ''] = subject.split(' ');
  return `${name} (${new URL(issuer).host})`;
}

/** The longest name that a person may have. */
const MAX_NAME_LENGTH = 200;

/** Returns who a person is, also if the rules give no role. Throws a `SignInFailure` if the name is missing. */
export function identifyPerson(claims: PersonClaims, { nameClaim, admins, viewers }: AdmissionRules): Person {
  const value = claims[nameClaim];
  // Without compatibility forms and invisible characters, which would let one name pass for another.
  const name =
    typeof value === 'string'
      ? value
          .normalize('NFKC')
          .replace(/\p{Cf}/gu, '')
          .trim()
      : '';
  if (name === '' || name.length > MAX_NAME_LENGTH || /\p{Cc}/u.test(name))
    throw new SignInFailure('noName', `the claim ${JSON.stringify(nameClaim)} has no name`);
  const role = matches(claims, admins) ? 'admin' : matches(claims, viewers) ? 'viewer' : undefined;
  return { subject: `${claims.iss} ${claims.sub}`, name, role };
}

/** An address that the provider has not verified could be that of somebody else. */
function matches(claims: PersonClaims, rule: RoleRule | undefined): boolean {
  if (!rule || !Object.hasOwn(claims, rule.claim)) return false;
  if (rule.claim === 'email' && claims['email_verified'] !== true) return false;
  const found = claims[rule.claim];
  return (Array.isArray(found) ? found : [found]).some((value) => rule.values.includes(value));
}
