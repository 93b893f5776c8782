import type { ListedMappingPreview } from '../../../src/operations/mappings/mapping-changes.ts';
import { effectSentence, effectTexts } from '../../../src/provisioning/mapping-changes/mapping-texts.ts';

const counts = { set: 0, cleared: 0, again: 0, released: 0 };
const nothing: ListedMappingPreview = {
  ...{ people: 12, changed: 0, created: 0, pending: 0, outOfScope: 0, isCut: false, needsApproval: false },
  ...{ fields: [], findings: [], examples: [], names: { 'customFields.cf': 'Job title' } },
};

test('the effect of a mapping names everything that its preview counts', () => {
  const preview: ListedMappingPreview = {
    ...{ ...nothing, people: 1_204, changed: 214, created: 2, pending: 1, outOfScope: 3, isCut: true },
    fields: [
      { ...counts, field: 'firstName', set: 200, again: 1 },
      { ...counts, field: 'customFields.cf', cleared: 14, released: 1 },
    ],
  };
  expect(effectSentence(preview)).toBe(
    'This would change 214 of the first 1,204 people: 201 first names, 14 removed + 1 no longer set Job title. 2 would get a traveler at last. 1 would get no traveler any more. 3 would be out of scope, and nothing is sent for them.',
  );
  expect(effectTexts(preview)).toEqual({
    removed: 'Removes the value of Job title for 14 people.',
    released: 'Gives up the field, whose value then stays in the travel service: Job title for 1 person.',
  });
});

test('a mapping that only gives fields up changes nobody', () => {
  const preview = { ...nothing, fields: [{ ...counts, field: 'firstName', released: 12 }] };
  expect(effectSentence(preview)).toBe(
    'This would change nobody of 12 people: 12 no longer set first names.',
  );
  expect(effectTexts(preview)).toEqual({
    removed: undefined,
    released: 'Gives up the field, whose value then stays in the travel service: First name for 12 people.',
  });
  expect(effectSentence(nothing)).toBe('This would change nobody of 12 people.');
});
