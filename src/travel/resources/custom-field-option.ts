import { z } from 'zod';
import { ApiError, type Invalid } from '../errors.ts';
import { flag, label, text } from '../fields.ts';
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
    refuses: { create: [403] },
    index: ({ doc, parentId }) => [
      { name: OPTION_DATA, value: optionKey(parentId, String(doc['data'])) },
      ...EXCLUSIVE.filter((field) => doc[field] !== undefined).map((field) => ({ name: field, value: SET })),
    ],
    present: async (options) => options.map(({ parentId, doc }) => ({ customFieldId: parentId, ...doc })),
  },
  example: { data: 'R42' },
});

/** The index under which an option is found by its field and data. */
export const OPTION_DATA = 'data';

/** The value under which `OPTION_DATA` finds an option. */
export function optionKey(customFieldId: string, data: string): string {
  return `${customFieldId}/${data}`;
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

/** All that have it are in one field, so any other of them tells which. */
async function isSetElsewhere({ id, parent, within }: Change, field: string): Promise<boolean> {
  const match = { type: 'customFieldOption', name: field, values: [SET], limit: 2 };
  const others: StoredResource[] = await within.find(match);
  return others.some((other) => other.id !== id && other.parentId !== parent?.id);
}
