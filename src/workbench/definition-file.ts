import { lstat, mkdir } from 'node:fs/promises';
import { basename } from 'node:path';
import type { ReadFolders } from '../definitions/folders.ts';
import type { YamlFile } from '../definitions/yaml-file.ts';
import { type Fault, TailraceError } from '../errors.ts';
import { actorOf } from '../keys/audit.ts';
import type { Caller } from '../keys/keyring.ts';
import { findBelow, OutsideError } from '../lib/file.ts';
import { complete, findLong, parseDefinition, rejectDraft, withId } from './draft.ts';
import { readIfThere, rejectConflict, replaceFiles, toSaveError, versionOf } from './files.ts';
import { type SaveParts, toReloadError } from './save.ts';

/** A kind of definition that is one file, such as an alert. */
export interface FileKind {
  readonly noun: string;
  /** The name of a file in messages. */
  readonly file: string;
  /** The served ones. */
  readonly known: () => readonly { readonly id: string; readonly name: string; readonly file: string }[];
  readonly dirOf: (folders: ReadFolders) => string;
  readonly check: (definition: string) => readonly Fault[];
  /** Why none can be saved here; `undefined` if they can. */
  readonly refusal: () => string | undefined;
}

export type SaveFileParts = Pick<SaveParts, 'folders' | 'edit' | 'audit' | 'newId'>;

export interface SaveFileRequest {
  readonly name: string;
  readonly definition: string;
  /** The version of the text that was read before; null: there is no such definition yet. */
  readonly version: string | null;
}

interface FileText {
  readonly name: string;
  readonly definition: string;
  readonly version: string;
  readonly may_edit: boolean;
}

/** Reads the present file of a definition, which may be newer than the served one. @throws TailraceError `not_found` */
export async function readDefinitionFile(
  { refusal }: Pick<FileKind, 'refusal'>,
  { name, file }: { readonly name: string; readonly file: string },
): Promise<FileText> {
  const definition = await readIfThere(file);
  if (definition === undefined)
    throw new TailraceError('not_found', `the file of ${name} was removed since it was loaded`);
  return { name, definition, version: versionOf({ definition }), may_edit: refusal() === undefined };
}

/**
 * Writes the file of a definition and has it served.
 *
 * @throws TailraceError `forbidden`, `conflict`, `invalid_definition`: then nothing has changed
 */
export async function saveDefinitionFile(
  parts: SaveFileParts,
  { kind, ...request }: SaveFileRequest & { readonly kind: FileKind },
  caller: Pick<Caller, 'keyId' | 'person' | 'address'>,
): Promise<{ name: string; version: string }> {
  const { name } = request;
  const refusal = kind.refusal();
  if (refusal !== undefined) throw new TailraceError('forbidden', refusal);
  const definition = complete(request.definition, {
    ...{ file: kind.file, name, newId: parts.newId },
    id: kind.known().find((one) => one.name === name)?.id,
    nameOf: (id) => kind.known().find((one) => one.id === id.toLowerCase())?.name,
  });
  rejectDraft(kind.check(definition));
  await parts.edit((reload) => saveFile(parts, { ...request, definition, kind }, reload));
  const version = versionOf({ definition });
  const detail = `${kind.noun} ${name} ${version}`;
  await parts.audit({ action: 'saved', keyId: '', ...actorOf(caller), detail });
  return { name, version };
}

async function saveFile(
  parts: SaveFileParts,
  { kind, name, definition, version }: SaveFileRequest & { readonly kind: FileKind },
  reload: () => Promise<void>,
): Promise<void> {
  const known = kind.known().find((one) => one.name === name);
  const dir = kind.dirOf(parts.folders());
  try {
    await mkdir(dir, { recursive: true });
    const path = await findBelow(dir, known === undefined ? `${name}.yaml` : basename(known.file));
    if ((await lstat(path).catch(() => undefined))?.isFile() === false) throw linked(name);
    const before = await readIfThere(path);
    rejectConflict(
      { noun: kind.noun, name, version },
      before === undefined ? undefined : { definition: before },
    );
    const takeBack = await replaceFiles([[path, definition]]);
    await reload().catch(async (error: unknown) => {
      await takeBack();
      throw toReloadError(error, parts);
    });
  } catch (error) {
    throw error instanceof OutsideError ? linked(name, error) : toSaveError(error, name);
  }
}

function linked(name: string, cause?: unknown): TailraceError {
  const message = `the file of ${name} is a link or a folder; edit it where it is`;
  return new TailraceError('forbidden', message, { cause });
}

/** Checks the text of a definition as its file is checked. It may lack `id`. */
export function checkText(
  file: string,
  definition: string,
  check: (yaml: YamlFile) => readonly Fault[],
): readonly Fault[] {
  const long = findLong(file, definition);
  if (long.length > 0) return long;
  const parsed = parseDefinition(definition, file);
  return Array.isArray(parsed) ? parsed : check(withId(parsed));
}
