import { rolesTarget, travelRoles } from '../../model/translation.ts';
import { jsonPath } from '../../schema/json-path.ts';
import { type RoleSettings, type RoleTable, readRoles, roleTable } from '../values/role-names.ts';
import { constantsOf, type Transform } from '../values/transforms.ts';
import type { Reading } from '../values/values.ts';
import type { MappingFault } from './mapping-faults.ts';
import { isSyntaxProblem, parseTemplate, pathsOfTemplate } from './rule-syntax.ts';

/** The part of a rule that decides which roles the rule itself contains. */
interface WrittenRule {
  userAttribute?: string | undefined;
  template?: string | undefined;
  transforms?: Transform[] | undefined;
}

/** The part of a mapping that decides which roles its rules give. */
interface WrittenMapping extends RoleSettings {
  scimUserMapping: WrittenRule[];
  phone?: { defaultCountry?: string | undefined } | undefined;
}

/** Finds the roles in the rules of a mapping that it cannot give: a misspelled one would take the meant role away. */
export function findRoleFaults(mapping: WrittenMapping): MappingFault[] {
  const table = roleTable(mapping);
  return mapping.scimUserMapping.flatMap((rule, index) =>
    rule.userAttribute === rolesTarget
      ? constantsIn(rule, index, mapping).flatMap((constant) => roleFaultOf(constant, table))
      : [],
  );
}

function constantsIn(
  { template, transforms = [] }: WrittenRule,
  index: number,
  mapping: WrittenMapping,
): Reading[] {
  const path = ['scimUserMapping', index];
  const parsed = template === undefined ? undefined : parseTemplate(template);
  const isFixed = parsed && !isSyntaxProblem(parsed) && pathsOfTemplate(parsed.parts).length === 0;
  const fixed = isFixed
    ? { text: parsed.parts.join(''), mappingPath: jsonPath([...path, 'template']) }
    : undefined;
  const setting = { country: mapping.phone?.defaultCountry, path: [...path, 'transforms'] };
  return constantsOf(transforms, setting, fixed);
}

function roleFaultOf(constant: Reading, table: RoleTable): MappingFault[] {
  if ('fault' in constant) {
    const { mappingPath: path } = constant.fault;
    return path === undefined
      ? []
      : [{ path, problem: 'gives no role after the transforms', remedy: 'Correct the transforms.' }];
  }
  const { roles, fault } = readRoles(constant.value, table);
  const path = constant.mappingPath ?? 'scimUserMapping';
  if (fault) {
    const remedy = roles.length > 0 ? fault.remedy : `Write one of ${travelRoles.join(', ')}.`;
    return [{ path, problem: `gives no role: ${fault.reason}`, remedy }];
  }
  return [];
}
