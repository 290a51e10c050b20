import { type Hash, isTallyError } from '../../core/index.js'
import type { RecordForm } from '../derived/record-form.js'
import { unwrapText } from '../envelope.js'
import type { StoreKeys } from '../keys.js'
import { addPage, hashKey, hashValue, StateTree, StateTreeBuilder } from '../state/index.js'
import type { Store } from '../stores/port.js'

/** The state tree that the values of the state give as they are stored. */
export async function storedTree(store: Store, keys: StoreKeys): Promise<StateTree> {
  let tree = StateTree.empty
  for await (const [key, value] of store.entries(keys.states(''))) {
    tree = tree.set(hashKey(keys.stateKey(key)), hashValue(unwrapText(key, value)))
  }
  return tree
}

/** The state tree that the stored pages give, or undefined when they do not give this root. */
export async function readPagedTree(
  store: Store,
  keys: StoreKeys,
  { storageRoot, form }: { readonly storageRoot: Hash; readonly form: RecordForm }
): Promise<StateTree | undefined> {
  const builder = new StateTreeBuilder()
  try {
    for await (const [key, value] of store.entries(keys.statePages())) {
      addPage(builder, keys.statePageNumber(key), form.body(key, value))
    }
  } catch (error) {
    // Pages are derived: damaged ones are left aside and the tree is built from the write sets.
    if (isTallyError(error)) return undefined
    throw error
  }
  const tree = builder.finish()
  return tree.root() === storageRoot ? tree : undefined
}
