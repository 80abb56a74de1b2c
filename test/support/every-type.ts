const YAML = `id: 8dea32a0-fb99-4b83-9c42-c900fca9aeb6
name: every.type
description: A test.
max_rows: 1
caching: disabled
parameters:
  s: { type: string, max_length: 5, pattern: '^[a-z\uFFFD]*$', description: A string. }
  e: { type: enum, values: [a, b], description: An enum. }
  t: { type: timestamp, description: A timestamp. }
  r: { type: regex, description: A pattern. }
  i: { type: integer, description: An integer. }
  n: { type: number, max: 1.0e+300, description: A number. }
  b: { type: boolean, description: A boolean. }
  d: { type: date, description: A date. }
  u: { type: uuid, description: A UUID. }
  l: { type: list, of: integer, max_items: 3, description: A list. }
columns:
  s: { type: string, description: A string. }
  e: { type: string, description: An enum. }
  t: { type: string, description: A timestamp. }
  r: { type: string, description: A pattern. }
  i: { type: integer, description: An integer. }
  n: { type: number, description: A number. }
  b: { type: boolean, description: A boolean. }
  d: { type: string, description: A date. }
  u: { type: string, description: A UUID. }
  l: { type: string, description: A list. }
`;
const SQL =
  'SELECT @s AS s, @e AS e, @t AS t, @r AS r, @i AS i, @n AS n, @b AS b, @d AS d, @u AS u, toString(@l) AS l';

/** `every.type`, an endpoint with a parameter of each type, which returns their values: the texts of its files, by path. */
export const EVERY_TYPE = {
  'endpoints/every.type/endpoint.yaml': YAML,
  'endpoints/every.type/query.sql': SQL,
};
