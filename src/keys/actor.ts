import type { Caller } from './keyring.ts';

/** Names the caller in the audit trail. A person's name may be that of another one, or change, so their id follows. */
export function actorOf({ keyId, person, address }: Pick<Caller, 'keyId' | 'person' | 'address'>) {
  return { actor: person === undefined ? keyId : `${person.name} (${keyId})`, address: address ?? '' };
}
