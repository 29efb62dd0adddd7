import { expect, test } from 'vitest';
import { elementsOf, escapeXml, textOf } from './s3-xml.ts';

const LIST = `<?xml version="1.0"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><KeyCount>2</KeyCount>
<Contents><Key>a&amp;b&#x20AC;&#65;&unknown;</Key><Size>1</Size><ETag>&quot;1&quot;</ETag></Contents>
<Contents id="2"><Key>c</Key><Size>2</Size></Contents></ListBucketResult>`;

test('elements are found by their whole name, with or without attributes', () => {
  const [first = '', second = ''] = elementsOf(LIST, 'Contents');
  expect(elementsOf(LIST, 'Contents')).toHaveLength(2);
  expect([textOf(first, 'Key'), textOf(first, 'ETag')]).toEqual(['a&b€A&unknown;', '"1"']);
  expect([textOf(second, 'Key'), textOf(second, 'ETag')]).toEqual(['c', undefined]);
  expect(textOf(LIST, 'KeyCount')).toBe('2');
});

test.for([['<Key>'], ['<Key>a</Kex>'], ['<Key'], ['</Key><Key>'], ['plain text'], ['']] as const)(
  'the incomplete document %j has no element',
  ([document]) => {
    expect(elementsOf(document, 'Key')).toEqual([]);
    expect(textOf(document, 'Key')).toBeUndefined();
  },
);

test('an impossible character stays as it is written', () => {
  expect(textOf('<Key>&#x110000;</Key>', 'Key')).toBe('&#x110000;');
});

test('escaped text is read again as it was', () => {
  const text = 'a<b>&amp;"c"';
  expect(textOf(`<Key>${escapeXml(text)}</Key>`, 'Key')).toBe(text);
});
