import { isNetwork } from './url.ts';

/** A port on which lines of syslog arrive. */
export interface SyslogAddress {
  readonly transport: 'tcp' | 'tls' | 'udp';
  readonly host: string;
  readonly port: number;
  /** The project of all its events; empty: what a line names, else TAILRACE_DEFAULT_PROJECT. */
  readonly project: string;
  /** Networks that may send, such as `10.0.0.0/8`; all if empty. */
  readonly allow: readonly string[];
  /** PEM file of the authorities of which senders need a certificate; empty: none needed. TLS only. */
  readonly clientCaFile: string;
}

const FORM =
  'must be addresses such as udp://127.0.0.1:5514?project=shop, ' +
  'tcp://0.0.0.0:6514?allow=10.0.0.0/8 or tls://0.0.0.0:6514?ca=/etc/ca.pem, joined by spaces';
const PARAMETERS = ['project', 'allow', 'ca'];
const PORT_MAX = 65_535;

/** Reads the listeners of TAILRACE_SYSLOG. @throws Error */
export function readSyslog(text: string): readonly SyslogAddress[] {
  return text.split(/\s+/).flatMap((one) => (one === '' ? [] : [readAddress(one)]));
}

/** Checks the listeners of TAILRACE_SYSLOG. @throws Error */
export function parseSyslog(text: string): string {
  readSyslog(text);
  return text;
}

function readAddress(text: string): SyslogAddress {
  const [, transport, host = '', port = '', query = ''] =
    /^(tcp|tls|udp):\/\/(\[[0-9a-f:.]+\]|[\w.-]+):(\d{1,5})\/?(?:\?(.*))?$/i.exec(text) ?? [];
  const search = new URLSearchParams(query);
  const unknown = [...search.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined)
    throw new Error(
      `has the unknown parameter ${JSON.stringify(unknown)}; known are ${PARAMETERS.join(', ')}`,
    );
  const kind = transport?.toLowerCase();
  const clientCaFile = search.get('ca') ?? '';
  if ((kind !== 'tcp' && kind !== 'tls' && kind !== 'udp') || Number(port) > PORT_MAX) throw new Error(FORM);
  if (clientCaFile !== '' && kind !== 'tls') throw new Error(`has ca for ${kind}; only tls has certificates`);
  const allow = (search.get('allow') ?? '').split(',').filter((network) => network !== '');
  const wrong = allow.find((network) => !isNetwork(network));
  if (wrong !== undefined)
    throw new Error(`has ${JSON.stringify(wrong)} in allow; write addresses or networks such as 10.0.0.0/8`);
  return {
    ...{ transport: kind, host: host.replace(/^\[|\]$/g, ''), port: Number(port), clientCaFile },
    project: search.get('project') ?? '',
    allow,
  };
}
