// client.mjs LINE MODE COMMAND [ARG]... - the SDK's own client does what a host of the protocol does, and prints what it saw.
//
// LINE is 1 (@modelcontextprotocol/sdk) or 2 (@modelcontextprotocol/client); MODE is the revision that a client of line 2
// must use, or legacy. The SDK checks every answer by the protocol's schemas, and structured content by the tool's.
import { pathToFileURL } from "node:url";

const [line, mode, command, ...args] = process.argv.slice(2);
const root = args[args.indexOf("--root") + 1];
const seen = { progress: [], errors: [] };

async function connect() {
    if (line === "1") {
        const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
        const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
        const { ListRootsRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
        const client = new Client({ name: "test", version: "1" }, { capabilities: { roots: {} } });
        client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: pathToFileURL(`${root}/sub`).href }] }));
        await client.connect(new StdioClientTransport({ command, args, stderr: "inherit" }));
        return client;
    }
    const { Client } = await import("@modelcontextprotocol/client");
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    const negotiation = mode === "legacy" ? "legacy" : mode === "auto" ? "auto" : { pin: mode };
    const client = new Client({ name: "test", version: "1" }, { capabilities: { roots: {} }, versionNegotiation: { mode: negotiation } });
    client.setRequestHandler("roots/list", async () => ({ roots: [{ uri: pathToFileURL(`${root}/sub`).href }] }));
    await client.connect(new StdioClientTransport({ command, args, stderr: "inherit" }));
    return client;
}

const client = await connect();
client.onerror = (error) => seen.errors.push(String(error));
// The two lines of the SDK have their options in different places.
const call = (name, given = {}, options = undefined) =>
    line === "1" ? client.callTool({ name, arguments: given }, undefined, options) : client.callTool({ name, arguments: given }, options);
const run = (...argv) => call("run", { argv });

seen.tools = (await client.listTools()).tools.map((tool) => tool.name);
seen.place = (await run("sh", "-c", "pwd -P")).structuredContent.stdout.head;
const refused = await run("say_arg", "x");
seen.refused = { isError: refused.isError, nearest: refused.structuredContent.nearest, text: refused.content[0].text };
seen.explain = (await call("explain", { argv: ["true"] })).structuredContent.decision;
seen.listed = (await call("tools")).structuredContent.tools.length;
seen.lint = (await call("lint")).structuredContent.findings.length;
seen.gather = (await call("gather", { only: ["snapshot"] })).structuredContent.document.format;
// The client reports its own rounds as progress too, without a total.
await call("run", { argv: ["sleep", "0.8"] }, { onprogress: (progress) => progress.total && seen.progress.push(progress.progress) });
const abort = new AbortController();
setTimeout(() => abort.abort("enough"), 300);
seen.aborted = await call("run", { argv: ["sleep", "600"] }, { signal: abort.signal }).then(() => "answered", () => "aborted");
seen.resources = (await client.listResources()).resources.length;
seen.policy = JSON.parse((await client.readResource({ uri: "chokepoint://policy" })).contents[0].text).version;
seen.missing = await client.readResource({ uri: "chokepoint://nope" }).then(() => "read", (error) => error.code);
seen.prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
seen.prompt = (await client.getPrompt({ name: "what-may-i-run", arguments: { tool: "true" } })).messages.length;
seen.completion = (await client.complete({ ref: { type: "ref/prompt", name: "what-may-i-run" }, argument: { name: "tool", value: "say_a" } })).completion.values;
seen.again = (await run("true")).structuredContent.outcome;
const began = Date.now();
await client.close();
seen.closed_ms = Date.now() - began;
console.log(JSON.stringify(seen));
