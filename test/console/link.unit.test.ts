import { describe, expect, test } from 'vitest';
import { fillLink } from '../../console/src/format/link.ts';
import { createLinksOf } from '../../console/src/page/explore/links.ts';
import { toLine } from '../../console/src/ui/lines/line.ts';

describe('a link of a value', () => {
  test('has each value encoded, whatever it is', () => {
    const fill = (value: string) =>
      fillLink('https://a.example/{value}?p={project}', (name) => ({ value })[name] ?? 'x');
    expect(fill('4bf9')).toBe('https://a.example/4bf9?p=x');
    expect(fill('../a b?c#d{value}')).toBe('https://a.example/..%2Fa%20b%3Fc%23d%7Bvalue%7D?p=x');
    expect(fill('\ud800')).toBe('https://a.example/%EF%BF%BD?p=x');
    expect(fill('')).toBeUndefined();
    expect(fillLink('https://a.example', () => '')).toBe('https://a.example');
  });

  test('is of the field and the source of the line', () => {
    const link = { label: 'Trace', field: 'trace_id', url: 'https://a.example/{value}/{region.name}' };
    const of = { id: '', description: '', internal: false, fields: [], marks_deploys: false };
    const linksOf = createLinksOf([
      { ...of, name: 'logs', links: [link] },
      { ...of, name: 'others', links: [] },
    ]);
    const metadata = { trace_id: '4bf9', region: { name: 'fra' } };
    const line = toLine({ source: 'logs', timestamp: 1, metadata });
    expect(linksOf(line, 'trace_id')).toEqual([{ label: 'Trace', url: 'https://a.example/4bf9/fra' }]);
    expect(linksOf(line, 'metadata.trace_id')).toHaveLength(1);
    expect(linksOf(line, 'region.name')).toEqual([]);
    expect(
      linksOf(toLine({ source: 'logs', timestamp: 1, metadata: { trace_id: '4bf9' } }), 'trace_id'),
    ).toEqual([]);
    expect(linksOf(toLine({ source: 'others', timestamp: 1, metadata }), 'trace_id')).toEqual([]);
  });
});
