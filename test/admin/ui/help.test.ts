import { helpAddress, helpPages } from '../../../src/admin/ui/help.ts';
import { anchorsOf, documentsBelow } from '../../docs/documents.ts';

test.each(Object.entries(helpPages))('the view %s has help in an existing chapter, %s', (_view, page) => {
  const [file = '', anchor] = page.split('#');
  const document = `docs/${file.replace(/\.html$/, '.md')}`;
  expect(documentsBelow('docs')).toContain(document);
  if (anchor !== undefined) expect(anchorsOf(document)).toContain(anchor);
});

test('what is within a view has the help of the view', () => {
  expect(helpAddress('/decisions')).toBe('/docs/operations/held-changes.html#deciding');
  expect(helpAddress('/decisions/default/rules')).toBe('/docs/operations/held-changes.html#deciding');
  expect(helpAddress('/decisionsover')).toBeUndefined();
});
