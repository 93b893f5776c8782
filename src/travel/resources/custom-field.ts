import { z } from 'zod';
import { ApiError } from '../errors.ts';
import { checked, flag, label, oneOf, text } from '../fields.ts';
import { textOf } from '../json.ts';
import { type Change, defineResource } from '../resource.ts';
import { isExpression } from './expressions.ts';

/** A field of the customer's own on users or trip projects. */
export const customField = defineResource({
  type: 'customField',
  path: 'custom-fields',
  idForm: 'A',
  schema: z
    .strictObject({
      dataType: oneOf(['text', 'option', 'optionsList']),
      description: text.optional(),
      disabled: flag,
      editableByApprover: flag,
      mandatory: flag,
      name: label,
      resourceType: oneOf(['tripProject', 'user']),
      validationRegexp: checked('pattern', 'must be an RE2 expression', isExpression).optional(),
    })
    .meta({ description: "A field of the customer's own on users or trip projects" }),
  operations: ['list', 'create', 'retrieve', 'patch', 'replace', 'delete'],
  sortBy: [],
  filters: [],
  rules: {
    check: keepKind,
    refuses: { patch: [409], replace: [409] },
    index: ({ doc }) =>
      doc['mandatory'] === true && doc['disabled'] === false
        ? [{ name: MANDATORY, value: textOf(doc, 'resourceType') ?? '' }]
        : [],
  },
  example: {
    dataType: 'text',
    description: 'As on the payroll',
    disabled: false,
    name: 'Employee number',
    resourceType: 'user',
  },
});

/** The index under which enabled mandatory fields are found by their resource type. */
export const MANDATORY = 'mandatory';

/** A field with options, values or a mapping keeps its kind: they would mean nothing under another. */
async function keepKind({ id, before, wanted, within }: Change) {
  const moved = ['dataType', 'resourceType'].filter((field) => before && before[field] !== wanted[field]);
  if (moved.length > 0 && (await within.isReferredTo({ type: 'customField', id }))) {
    throw new ApiError(
      'conflict',
      `"${moved.join('" and "')}" cannot change while the custom field is in use.`,
    );
  }
  return { doc: wanted, invalid: [] };
}
