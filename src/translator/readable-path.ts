import { findAttribute } from '../schema/attribute.ts';
import { type AttributePath, parsePath } from '../schema/paths.ts';
import { resolve, userType } from '../schema/resource-type.ts';

/** Why a rule cannot read from a path, and what would be right. */
interface PathProblem {
  problem: string;
  remedy: string;
}

/** Parses the path of a rule. Extensions may have any attributes; core ones must exist, and be of those that are kept. */
export function readablePath(text: string): AttributePath | PathProblem {
  const parsed = parsePath(text);
  const path = 'fault' in parsed ? parsed : ofAttributes(parsed);
  if ('fault' in path) {
    const remedy = 'Write a SCIM path, e.g. title, name.middleName or emails[type eq "work"].value.';
    return { problem: `is not a SCIM path: ${path.fault} (at ${path.position})`, remedy };
  }
  const { urn, attribute, name } = resolve(userType, path);
  if (name === undefined)
    return { problem: 'names a schema and no attribute', remedy: `Write ${text}:attribute.` };
  if (!attribute) return urn === undefined ? unknown(name) : path;
  if (attribute.mutability !== 'readWrite') {
    return { problem: `${name} is not kept`, remedy: 'Read an attribute that the identity provider writes.' };
  }
  const isKnown = path.sub === undefined || findAttribute(attribute.subAttributes, path.sub) !== undefined;
  return isKnown ? path : unknown(`${name}.${path.sub}`);
}

/** A rule reads an attribute, never an extension as a whole. */
function ofAttributes(path: AttributePath): AttributePath {
  const { readings, ...rest } = path;
  if (!readings) return path;
  return { ...rest, readings: readings.filter(({ attribute }) => attribute !== undefined) };
}

function unknown(name: string): PathProblem {
  return {
    problem: `a user has no attribute ${name}`,
    remedy: 'Correct the name, or put the URN of its extension in front.',
  };
}
