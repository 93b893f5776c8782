import type { UserChange } from '../../provisioning/users/users.ts';
import { isValueFault, type LeftOutValue, leftOutList } from '../../schema/left-out.ts';
import { type Normalized, normalize } from '../../schema/normalize.ts';
import type { JsonObject, ScimResource } from '../../schema/resource.ts';
import { userType } from '../../schema/resource-types.ts';
import { applyPatch, isPatchValueFault, type PatchOperation } from './patch.ts';
import { withoutStaleParts } from './stale-parts.ts';

/** The normalized body of a POST or PUT, and the values of it that were left out. */
export interface ParsedUser extends Normalized {
  leftOut: LeftOutValue[];
}

/** Normalizes the body of a POST. Of a list where one value is expected, the first usable value counts. */
export function parseNewUser(body: JsonObject): ParsedUser {
  const { values, report } = leftOutList();
  return {
    ...normalize(userType, body, { tolerance: { leavesOut: 'furtherValues', report } }),
    leftOut: values,
  };
}

/**
 * Parses the body of a PUT. If the user leaves, no value prevents that: those that do not fit are left out. Throws a SchemaFault for
 * other bodies that do not fit, and for those that do not belong to a user.
 */
export function parseReplacement(body: JsonObject): Normalized & { change: UserChange } {
  try {
    const { leftOut, ...parsed } = parseNewUser(body);
    const change: UserChange = (_current, _version, report) => {
      report?.(leftOut);
      return parsed.resource;
    };
    return { ...parsed, change };
  } catch (error) {
    if (!isValueFault(error)) throw error;
    const parsed = normalizeDeparture(body, undefined);
    if (parsed.resource.active !== false) throw error;
    const change: UserChange = (current, _version, report) => {
      const { resource, leftOut } = normalizeDeparture(body, current);
      report?.(leftOut);
      return resource;
    };
    return { ...parsed, change };
  }
}

function normalizeDeparture(body: JsonObject, current: ScimResource | undefined): ParsedUser {
  const { values, report } = leftOutList();
  const tolerance = { leavesOut: 'anyValue', report } as const;
  return { ...normalize(userType, body, { tolerance, current }), leftOut: values };
}

/** Returns the change of a PATCH. If the user leaves, values that do not fit are left out, as in a PUT. */
export function patchOfUser(operations: PatchOperation[]): UserChange {
  return (current, _version, report) => {
    const strict = leftOutList();
    try {
      const tolerance = { leavesOut: 'nothing', report: strict.report } as const;
      const patched = applyPatch(userType, current, operations, tolerance);
      report?.(strict.values);
      return withoutStaleParts(current, patched, operations);
    } catch (error) {
      if (!isPatchValueFault(error)) throw error;
      // Without its present value, `active` shows what the PATCH sets.
      const { active: _, ...others } = current;
      const tolerant = leftOutList();
      const tolerance = { leavesOut: 'anyValue', report: tolerant.report } as const;
      const patched = applyPatch(userType, others, operations, tolerance);
      if (patched.active !== false) throw error;
      report?.(tolerant.values);
      return patched;
    }
  };
}
