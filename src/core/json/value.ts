/** A plain JSON value. */
export type Json = null | boolean | number | string | JsonArray | JsonObject
export type JsonArray = readonly Json[]
export type JsonObject = { readonly [key: string]: Json }

/** Whether a JSON value is an object (not null, not an array). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
