import { isJsonObject, type Json } from '../../core/index.js'

/** Applies a JSON merge patch (RFC 7396): null removes a key, objects merge, all else replaces. */
export function mergePatch(target: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch
  const merged = new Map<string, Json>(isJsonObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key) ?? null, value))
  }
  return Object.fromEntries(merged)
}
