/** Texts in ISO 8601 that all name the same microsecond. The endpoint decides on all of them alike. */
export function spellings(micros: number): string[] {
  const utc = partsOf(micros);
  const fraction = utc.fraction;
  const texts = [
    `${utc.day}T${utc.time}.${fraction}Z`,
    `${utc.day}t${utc.time}.${fraction}z`,
    `${utc.day} ${utc.time}.${fraction}`, // without a zone it is UTC
    `${utc.day}T${utc.time},${fraction}Z`,
    `${utc.day}T${utc.time}.${fraction}000Z`,
    `${utc.day}T${utc.time}.${fraction}999999Z`, // digits beyond the microsecond are cut off
    `${utc.day}T${utc.time}.${fraction}+00:00`,
    `${digits(utc.day)}T${digits(utc.time)}.${fraction}Z`,
    ...ZONES.flatMap(([zone, minutes]) => {
      const local = partsOf(micros + minutes * 60_000_000);
      return [
        `${local.day}T${local.time}.${fraction}${zone}`,
        `${digits(local.day)}T${digits(local.time)}.${fraction}${zone}`,
      ];
    }),
  ];
  if (fraction.endsWith('000')) texts.push(`${utc.day}T${utc.time}.${fraction.slice(0, 3)}Z`);
  if (Number(fraction) > 0) return texts;
  texts.push(`${utc.day}T${utc.time}Z`, `${utc.day}T${utc.time}`, `${digits(utc.day)}T${digits(utc.time)}Z`);
  if (!utc.time.endsWith(':00')) return texts;
  texts.push(`${utc.day}T${utc.time.slice(0, 5)}Z`, `${utc.day} ${utc.time.slice(0, 5)}`);
  if (utc.time === '00:00:00') texts.push(utc.day, digits(utc.day));
  return texts;
}

/** Offsets as they are written, with their minutes. */
const ZONES: readonly (readonly [string, number])[] = [
  ['+01:00', 60],
  ['-08:00', -480],
  ['+0530', 330],
  ['-03', -180],
  [' 02:00', 120], // what an unescaped + becomes in a query string
  ['+23:59', 1439],
];

function partsOf(micros: number): { day: string; time: string; fraction: string } {
  const ms = Math.floor(micros / 1000);
  const iso = new Date(ms).toISOString();
  const fraction = String(micros - ms * 1000).padStart(3, '0');
  return { day: iso.slice(0, 10), time: iso.slice(11, 19), fraction: iso.slice(20, 23) + fraction };
}

function digits(text: string): string {
  return text.replaceAll(/\D/g, '');
}
