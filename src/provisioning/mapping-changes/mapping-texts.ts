import { numberText, peopleText } from '../../model/texts.ts';
import { countedField, fieldLabel } from '../../model/value-texts.ts';
import type { MappingPreview } from './preview-mapping.ts';

// The words in which the page and the commands tell what a mapping would change. The page has this file, too.

type Totals = Pick<MappingPreview, 'people' | 'changed' | 'created' | 'pending' | 'outOfScope'>;
type FieldTotals = Omit<MappingPreview['fields'][number], 'field'> & { field: string };
interface Effect extends Totals {
  fields: readonly FieldTotals[];
  names: Partial<Record<string, string>>;
  /** True if only the first people were looked at. */
  isCut?: boolean;
}

/** One sentence, e.g. "This would change 214 of 1,204 people: 200 first names, 14 cost centers." */
export function effectSentence(effect: Effect): string {
  const { changed, created, pending, outOfScope, people, fields, names, isCut } = effect;
  const total = `${isCut ? 'the first ' : ''}${peopleText(people)}`;
  const counted = (count: number, text: string) => (count > 0 ? [`${numberText(count)}${text}`] : []);
  const parts = fields.map(({ field, set, cleared, again, released }) => {
    const kinds = [
      ...counted(set + again, ''),
      ...counted(cleared, ' removed'),
      ...counted(released, ' no longer set'),
    ];
    return countedField(kinds.join(' + '), field, names);
  });
  const others = [
    ...counted(created, ' would get a traveler at last.'),
    ...counted(pending, ' would get no traveler any more.'),
    ...counted(outOfScope, ' would be out of scope, and nothing is sent for them.'),
  ];
  const changes = changed === 0 ? 'nobody' : numberText(changed);
  const change = `This would change ${changes} of ${total}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}.`;
  return [change, ...others].join(' ');
}

/** Names the fields whose values a mapping removes, and those that it gives up; undefined if there are none. */
export function effectTexts({ fields, names }: Pick<Effect, 'fields' | 'names'>) {
  const list = (kind: 'cleared' | 'released', begin: string) => {
    const parts = fields
      .filter((field) => field[kind] > 0)
      .map((field) => `${fieldLabel(field.field, names)} for ${peopleText(field[kind])}`);
    return parts.length > 0 ? `${begin} ${parts.join(', ')}.` : undefined;
  };
  return {
    removed: list('cleared', 'Removes the value of'),
    released: list('released', 'Gives up the field, whose value then stays in the travel service:'),
  };
}
