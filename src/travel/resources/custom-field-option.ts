import { z } from 'zod';
import { foldCase } from '../../schema/case-fold.ts';
import { ApiError, type Invalid } from '../errors.ts';
import { flag, label, text } from '../fields.ts';
import { type JsonObject, textOf } from '../json.ts';
import type { StoredResource } from '../ports.ts';
import { type Change, defineResource } from '../resource.ts';
import { item } from '../validation.ts';

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
  operations: ['list', 'create', 'retrieve', 'patch', 'replace', 'delete'],
  sortBy: [],
  filters: [],
  references: [
    { field: 'approverId', to: 'user' },
    { field: 'billingProfileId', to: 'billingProfile' },
  ],
  parent: { type: 'customField', path: 'custom-fields' },
  rules: {
    check,
    checkClash: refuseTakenData,
    refuses: { create: [403, 409], patch: [409], replace: [409] },
    index: ({ doc, parentId }) => [
      { name: OPTION_DATA, value: optionKey(parentId, foldCase(dataOf(doc))) },
      ...EXCLUSIVE.filter((field) => doc[field] !== undefined).map((field) => ({ name: field, value: SET })),
    ],
    present: async (options) => options.map(({ parentId, doc }) => ({ customFieldId: parentId, ...doc })),
  },
  example: { data: 'R42' },
});

/** The index under which an option is found by its field and data. */
export const OPTION_DATA = 'data';

/**
 * The values under which `OPTION_DATA` finds the options of a field with this data in any case. Options that were written
 * before data was unique are found by their data as it is written.
 */
export function optionKeys(customFieldId: string, data: string): string[] {
  return [...new Set([data, foldCase(data)])].map((one) => optionKey(customFieldId, one));
}

function optionKey(customFieldId: string, data: string): string {
  return `${customFieldId}/${data}`;
}

function dataOf(doc: JsonObject | undefined): string {
  return (doc && textOf(doc, 'data')) ?? '';
}

/** "Only one custom field can be configured with approver-enabled options"; the same for billing profiles. */
const EXCLUSIVE = ['approverId', 'billingProfileId'];
const SET = 'set';

async function check(change: Change) {
  const { parent, wanted } = change;
  if (parent?.doc['dataType'] === 'text') {
    throw new ApiError('forbidden', 'A custom field of the type text has no options.');
  }
  const invalid: Invalid[] = [];
  for (const field of EXCLUSIVE) {
    if (wanted[field] !== undefined && (await isSetElsewhere(change, field))) {
      invalid.push(item('exclusive', [field], wanted, 'is set in the options of another custom field'));
    }
  }
  return { doc: wanted, invalid };
}

/** Data names an option when a value is assigned, so that two options of one field cannot have the same. */
async function refuseTakenData({ id, parent, before, wanted, within }: Change): Promise<void> {
  const data = dataOf(wanted);
  const isSame = (doc: JsonObject | undefined) =>
    doc !== undefined && foldCase(dataOf(doc)) === foldCase(data);
  // What older versions let through can still be changed in other respects.
  if (isSame(before) || !parent) return;
  const values = optionKeys(parent.id, data);
  const found = await within.find({ type: 'customFieldOption', name: OPTION_DATA, values });
  if (found.some((other) => other.id !== id && other.parentId === parent.id && isSame(other.doc))) {
    throw new ApiError('conflict', 'There is an option with this data in the custom field already.');
  }
}

/** All that have it are in one field, so any other of them tells which. */
async function isSetElsewhere({ id, parent, within }: Change, field: string): Promise<boolean> {
  const match = { type: 'customFieldOption', name: field, values: [SET], limit: 2 };
  const others: StoredResource[] = await within.find(match);
  return others.some((other) => other.id !== id && other.parentId !== parent?.id);
}
