import { RE2JS } from 're2js';
import { z } from 'zod';
import { foldCase } from '../../schema/case-fold.ts';
import { patternSize } from '../../schema/pattern-size.ts';
import { checked, flag, label, oneOf, text } from '../declaration/fields.ts';
import { type Change, defineResource } from '../declaration/resource.ts';
import { ApiError, type FieldFault } from '../errors.ts';
import { type JsonObject, stringMember } from '../json.ts';
import type { StoredResource } from '../ports.ts';
import { fieldFault } from '../requests/validation.ts';

/** A customer-defined field on users or trip projects. */
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
    .meta({ description: 'A custom field of users or trip projects, defined by the customer' }),
  rules: {
    check: refuseKindChange,
    refuses: { patch: [409], replace: [409] },
    index: ({ doc }) =>
      doc['mandatory'] === true && doc['disabled'] === false
        ? [{ name: MANDATORY_INDEX, value: stringMember(doc, 'resourceType') ?? '' }]
        : [],
  },
  example: {
    dataType: 'text',
    description: 'The id in the payroll system',
    disabled: false,
    name: 'Employee number',
    resourceType: 'user',
  },
});

/** The index of enabled mandatory fields by their resource type. */
export const MANDATORY_INDEX = 'mandatory';

/**
 * Throws `conflict` if the type of a field changes while options, values or a mapping refer to it, because they would
 * become meaningless.
 */
async function refuseKindChange({ id, before, wanted, transaction }: Change) {
  const moved = ['dataType', 'resourceType'].filter((field) => before && before[field] !== wanted[field]);
  if (moved.length > 0 && (await transaction.isReferenced({ type: 'customField', id }))) {
    throw new ApiError(
      'conflict',
      `"${moved.join('" and "')}" cannot change while the custom field is in use.`,
    );
  }
  return { doc: wanted, invalid: [] };
}

/** A value that can be chosen in a custom field of the types `option` and `optionsList`. */
export const customFieldOption = defineResource({
  type: 'customFieldOption',
  path: 'options',
  idForm: 'A',
  schema: z
    .strictObject({
      approverId: text.optional(),
      billingProfileId: text.optional(),
      data: label,
      disabled: flag,
      displayName: text.optional(),
    })
    .meta({
      description: 'A value that can be chosen in a custom field of the types `option` and `optionsList`',
    }),
  readOnly: z.strictObject({ customFieldId: text }),
  references: [
    { field: 'approverId', to: 'user' },
    { field: 'billingProfileId', to: 'billingProfile' },
  ],
  parent: { type: 'customField', path: 'custom-fields' },
  rules: {
    compareWithOthers: true,
    check: checkOption,
    checkClash: refuseTakenData,
    refuses: { create: [403, 409], patch: [409], replace: [409] },
    index: ({ doc, parentId }) => [
      { name: OPTION_DATA_INDEX, value: optionKey(parentId, dataOf(doc)) },
      ...EXCLUSIVE.filter((field) => doc[field] !== undefined).map((field) => ({ name: field, value: SET })),
    ],
    serialize: async (options) => options.map(({ parentId, doc }) => ({ customFieldId: parentId, ...doc })),
  },
  example: { data: 'R42' },
});

/** The index of options by field and data. */
export const OPTION_DATA_INDEX = 'data';

/** The value in `OPTION_DATA_INDEX` of options with this data in any case. */
export function optionKey(customFieldId: string, data: string): string {
  return `${customFieldId}/${foldCase(data)}`;
}

function dataOf(doc: JsonObject | undefined): string {
  return (doc && stringMember(doc, 'data')) ?? '';
}

/** "Only one custom field can be configured with approver-enabled options"; the same for billing profiles. */
const EXCLUSIVE = ['approverId', 'billingProfileId'];
const SET = 'set';

async function checkOption(change: Change) {
  const { parent, wanted } = change;
  if (parent?.doc['dataType'] === 'text') {
    throw new ApiError('forbidden', 'A custom field of the type text has no options.');
  }
  const invalid: FieldFault[] = [];
  for (const field of EXCLUSIVE) {
    if (wanted[field] !== undefined && (await isSetElsewhere(change, field))) {
      invalid.push(fieldFault('exclusive', [field], wanted, 'is set in the options of another custom field'));
    }
  }
  return { doc: wanted, invalid };
}

/** Throws `conflict` if another option of the field has the same data: data identifies an option when a value is assigned. */
async function refuseTakenData({ id, parent, before, wanted, transaction }: Change): Promise<void> {
  const data = dataOf(wanted);
  const isSame = (doc: JsonObject | undefined) =>
    doc !== undefined && foldCase(dataOf(doc)) === foldCase(data);
  if (isSame(before) || !parent) return;
  const values = [optionKey(parent.id, data)];
  const found = await transaction.find({ type: 'customFieldOption', name: OPTION_DATA_INDEX, values });
  if (found.some((other) => other.id !== id && other.parentId === parent.id && isSame(other.doc))) {
    throw new ApiError('conflict', 'There is an option with this data in the custom field already.');
  }
}

/**
 * Returns true if an option of another custom field has this field set. It is enough to check one option, because all
 * options with this field set belong to the same custom field.
 */
async function isSetElsewhere({ id, parent, transaction }: Change, field: string): Promise<boolean> {
  const match = { type: 'customFieldOption', name: field, values: [SET], limit: 2 };
  const others: StoredResource[] = await transaction.find(match);
  return others.some((other) => other.id !== id && other.parentId !== parent?.id);
}

/** Reports whether the whole value matches the expression. Without an expression every value matches that is not too long. */
export type Matcher = (data: string, expression: string | undefined) => boolean;

/** Maximum length of a text value, in characters. */
const MAX_TEXT_LENGTH = 1000;

/** Maximum length of an expression, in characters. */
const MAX_EXPRESSION_LENGTH = 1000;

/** Maximum size of a compiled expression, in instructions: nested repetitions multiply. */
const MAX_PROGRAM_SIZE = 3000;
/** An expression that is estimated larger than this is not compiled; the estimate may be several times the size. */
const MAX_ESTIMATED_SIZE = 10 * MAX_PROGRAM_SIZE;

/**
 * The matching work allowed for one request, in steps. RE2 takes at most characters × instructions, about three million
 * a second; compiling takes about a hundred steps per character and instruction.
 */
const MAX_STEPS = 4_000_000;
const COMPILE_STEPS = 100;

/** Reports whether this is an RE2 expression within the limits of length and size. */
export function isExpression(source: string): boolean {
  return compileExpression(source) !== undefined;
}

/**
 * Creates the matcher of one request. It compiles each expression once and matches each value once. When the allowed
 * work is used up, no value matches any more.
 */
export function createMatcher(): Matcher {
  const expressions = new Map<string, RE2JS | undefined>();
  const results = new Map<string, boolean>();
  let steps = MAX_STEPS;
  const match = (data: string, source: string): boolean => {
    if (steps < 0) return false;
    if (!expressions.has(source)) {
      const made = compileExpression(source);
      expressions.set(source, made);
      steps -= COMPILE_STEPS * (source.length + (made?.programSize() ?? 0));
    }
    const expression = expressions.get(source);
    if (expression === undefined) return false;
    steps -= data.length * expression.programSize();
    return steps >= 0 && expression.matches(data);
  };
  return (data, source) => {
    if (data.length > MAX_TEXT_LENGTH) return false;
    if (source === undefined) return true;
    const key = JSON.stringify([source, data]);
    const result = results.get(key) ?? match(data, source);
    results.set(key, result);
    return result;
  };
}

function compileExpression(source: string): RE2JS | undefined {
  if (source.length > MAX_EXPRESSION_LENGTH || patternSize(source) > MAX_ESTIMATED_SIZE) return undefined;
  try {
    const expression = RE2JS.compile(source);
    return expression.programSize() <= MAX_PROGRAM_SIZE ? expression : undefined;
  } catch {
    return undefined;
  }
}
