/** Whether the environment sets a variable. */
type IsGiven = (variable: string) => boolean;

const NEED_SERVER = ['CLICKHOUSE_READ_USER', 'CLICKHOUSE_SANDBOX_USER', 'CLICKHOUSE_TLS_FILE'];
// Shared by replicas, which prove to each other that they belong together by the secret of tokens.
const NEED_SECRET = ['TAILRACE_CONTROL_URL', 'TAILRACE_REDIS_URL'];

/** Finds settings that exclude or require each other; one line each. @param serverUrl the value of CLICKHOUSE_URL */
export function findCombinationFaults(isGiven: IsGiven, serverUrl: string | undefined): string[] {
  const faults = [...findHalfTls(isGiven), ...findPeopleFaults(isGiven)];
  if (!isGiven('CLICKHOUSE_URL'))
    for (const variable of NEED_SERVER.filter(isGiven))
      faults.push(`${variable}: has no effect without CLICKHOUSE_URL; remove it or set CLICKHOUSE_URL`);
  else if (serverUrl !== undefined && URL.canParse(serverUrl))
    faults.push(...findServerFaults(isGiven, new URL(serverUrl))); // else parseServerUrl reports it
  const needing = NEED_SECRET.filter(isGiven);
  if (needing.length > 0 && !isGiven('TAILRACE_TOKEN_SECRET'))
    faults.push(
      `TAILRACE_TOKEN_SECRET: must be set with ${needing.join(' and ')}, the same for all ` +
        'processes; "openssl rand -base64 32" prints one',
    );
  if (isGiven('TAILRACE_REDIS_URL') && !isGiven('CLICKHOUSE_URL'))
    faults.push(
      'TAILRACE_REDIS_URL: has no effect without CLICKHOUSE_URL: an embedded store belongs to one ' +
        'process, which has no replicas',
    );
  // The states of alerts are in the control store: a lease in Redis would not tell a replica what another one has sent.
  const isShared = isGiven('TAILRACE_REDIS_URL') && isGiven('CLICKHOUSE_URL');
  if (isShared && isGiven('TAILRACE_RECEIVERS_FILE') && !isGiven('TAILRACE_CONTROL_URL'))
    faults.push(
      'TAILRACE_RECEIVERS_FILE: needs TAILRACE_CONTROL_URL if TAILRACE_REDIS_URL is set: without a ' +
        'shared control store each replica would evaluate every alert and send its messages',
    );
  return faults;
}

const NEEDED_BY: Readonly<Record<string, readonly string[]>> = {
  TAILRACE_OIDC_ISSUER: ['TAILRACE_OIDC_CLIENT', 'TAILRACE_ROLES_FILE', 'TAILRACE_PUBLIC_URL'],
  TAILRACE_OIDC_CLIENT: ['TAILRACE_OIDC_ISSUER'],
  TAILRACE_TRUSTED_USER_HEADER: ['TAILRACE_TRUST_PROXY', 'TAILRACE_ROLES_FILE', 'TAILRACE_PUBLIC_URL'],
};

function findPeopleFaults(isGiven: IsGiven): string[] {
  return Object.entries(NEEDED_BY).flatMap(([variable, needed]) =>
    isGiven(variable)
      ? needed.filter((one) => !isGiven(one)).map((one) => `${one}: must be set too, since ${variable} is`)
      : [],
  );
}

/** Finds a missing file of TLS: with only one of the two the service would speak plain HTTP, although TLS was intended. */
function findHalfTls(isGiven: IsGiven): string[] {
  const files = ['TAILRACE_TLS_CERT_FILE', 'TAILRACE_TLS_KEY_FILE'];
  const [set] = files.filter(isGiven);
  const missing = files.filter((file) => !isGiven(file));
  if (set === undefined) return [];
  return missing.map((file) => `${file}: must be set too, since ${set} is: HTTPS needs both files`);
}

function findServerFaults(isGiven: IsGiven, { protocol }: URL): string[] {
  const faults: string[] = [];
  if (protocol !== 'https:' && isGiven('CLICKHOUSE_TLS_FILE'))
    faults.push('CLICKHOUSE_TLS_FILE: needs a CLICKHOUSE_URL that begins with https://');
  if (isGiven('TAILRACE_STORE_BYTES_MAX'))
    faults.push(
      'TAILRACE_STORE_BYTES_MAX: cannot be enforced with CLICKHOUSE_URL: the disks are the ' +
        'server’s, and others may store there',
    );
  return faults;
}
