// bridge.mjs PORT COMMAND [ARG]... - the conformance suite speaks HTTP, the server stdio; this stands between them.
//
// It starts COMMAND for each session (2025) or once (2026), passes messages on, and maps the names of the suite's fixtures
// to real calls of the server. An answer of the server is passed on as it is, but for ids and tokens. What the suite asks
// of HTTP itself is this file's doing and says nothing about the server: the check of hosts, status codes, streams, the
// comparison of headers with the message (-32020), and the null revision of a modern request that names none.
import { createServer } from "node:http";
import { randomUUID } from "node:crypto";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

const [port, command, ...args] = process.argv.slice(2);
const MODERN = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

// The fixtures of the suite, and the call of this server that does what each is about.
const TOOLS = {
    test_simple_text: { name: "run", arguments: { argv: ["echo", "This is a simple text response for testing."] } },
    test_error_handling: { name: "run", arguments: { argv: ["not-a-tool"] } },
    test_tool_with_logging: { name: "run", arguments: { argv: ["echo", "x"] } },
    test_tool_with_progress: { name: "run", arguments: { argv: ["sleep", "1.2"] } },
    // It asks by elicitation; what this server asks for is the roots. What holds for any question is tested by it.
    test_input_required_result_elicitation: { name: "run", arguments: { argv: ["echo", "x"] } },
    test_input_required_result_list_roots: { name: "run", arguments: { argv: ["echo", "x"] } },
    test_logging_tool: { name: "run", arguments: { argv: ["echo", "x"] } },
    test_streaming_elicitation: { name: "run", arguments: { argv: ["echo", "x"] } },
};
const RESOURCES = { "test://static-text": "chokepoint://policy", "test://template/123/data": "chokepoint://policy/tools/tool123",
    "test://watched-resource": "chokepoint://gather/last" };
const PROMPTS = {
    test_simple_prompt: () => ({ name: "what-may-i-run" }),
    test_prompt_with_arguments: (given) => ({ name: "why-was-this-refused", arguments: { argv: JSON.stringify(["echo", given.arg1, given.arg2]) } }),
};

function mapped(message) {
    const params = message.params;
    if (message.method === "tools/call" && TOOLS[params?.name]) {
        // The suite's client can list roots only where the fixture is about them.
        const { roots, ...can } = params._meta?.[CAPABILITIES] ?? {};
        if (params.name.startsWith("test_input_required_result_")) can.roots = {};
        const meta = params._meta?.[MODERN] ? { _meta: { ...params._meta, [CAPABILITIES]: can } } : {};
        message = { ...message, params: { ...params, ...TOOLS[params.name], ...meta } };
        return message;
    }
    if (params?.uri && RESOURCES[params.uri])
        return { ...message, params: { ...params, uri: RESOURCES[params.uri] } };
    if (message.method === "prompts/get" && PROMPTS[params?.name])
        return { ...message, params: { ...params, ...PROMPTS[params.name](params.arguments ?? {}) } };
    return message;
}

function started() {
    const stdio = new StdioClientTransport({ command, args, stderr: "inherit" });
    stdio.onerror = (error) => console.error("bridge:", error.message);
    return stdio;
}

// ---- 2025: a session has its own server; the SDK's transport does the HTTP

const sessions = new Map();

async function legacySession() {
    const http = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (id) => sessions.set(id, http) });
    const stdio = started();
    const tokens = new Map();
    let last;
    stdio.onmessage = (message) => http.send(message, { relatedRequestId: tokens.get(message.params?.progressToken) ?? last }).catch(() => {});
    http.onmessage = (message) => {
        if (message.method && message.id !== undefined) {
            last = message.id;
            tokens.set(message.params?._meta?.progressToken, message.id);
        }
        stdio.send(mapped(message));
    };
    http.onclose = () => stdio.close();
    await stdio.start();
    await http.start();
    return http;
}

// ---- 2026: one server for all; ids and tokens of different clients may be the same, so they are replaced

let shared, next = 0;
const waiting = new Map(); // our id -> what to do with its messages

async function modernServer() {
    if (shared) return shared;
    shared = started();
    shared.onmessage = (message) => {
        const token = message.params?.progressToken ?? message.params?._meta?.["io.modelcontextprotocol/subscriptionId"];
        const found = waiting.get(message.id ?? token) ?? (message.method ? [...waiting.values()].at(-1) : undefined);
        found?.(message);
    };
    await shared.start();
    return shared;
}

async function modern(message, response) {
    const stdio = await modernServer();
    if (message.id === undefined) {
        await stdio.send(message);
        return response.writeHead(202).end();
    }
    const id = ++next, token = message.params?._meta?.progressToken;
    const sse = token !== undefined || message.params?._meta?.["io.modelcontextprotocol/logLevel"] !== undefined || message.method === "subscriptions/listen";
    if (sse) response.writeHead(200, { "content-type": "text/event-stream" });
    waiting.set(id, (found) => {
        if (found.params?.progressToken !== undefined) found.params.progressToken = token;
        if (found.params?._meta?.["io.modelcontextprotocol/subscriptionId"]) found.params._meta["io.modelcontextprotocol/subscriptionId"] = message.id;
        if (found.id === id) found.id = message.id;
        const text = JSON.stringify(found);
        if (sse) response.write(`event: message\ndata: ${text}\n\n`);
        if (found.method) return;
        waiting.delete(id);
        if (sse) return response.end();
        const codes = { [-32601]: 404, [-32602]: 400, [-32022]: 400, [-32021]: 400, [-32600]: 400 };
        response.writeHead(codes[found.error?.code] ?? 200, { "content-type": "application/json" }).end(text);
    });
    response.on("close", () => {
        if (waiting.delete(id)) stdio.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    });
    const sent = mapped({ ...message, id });
    if (token !== undefined) sent.params = { ...sent.params, _meta: { ...sent.params._meta, progressToken: id } };
    await stdio.send(sent);
}

// ---- HTTP

async function handle(request, response) {
    const host = (request.headers.host ?? "").replace(/:\d+$/, "");
    const origin = request.headers.origin ? new URL(request.headers.origin).hostname : "localhost";
    if (![host, origin].every((name) => ["localhost", "127.0.0.1", "[::1]"].includes(name))) return response.writeHead(403).end();
    let body;
    if (request.method === "POST") {
        const pieces = [];
        for await (const piece of request) pieces.push(piece);
        body = JSON.parse(Buffer.concat(pieces).toString());
    }
    const version = request.headers["mcp-protocol-version"];
    if (body?.params?._meta?.[MODERN] || version === "2026-07-28" || (version && version > "2026")) return modernHTTP(request, body, version, response);
    const session = request.headers["mcp-session-id"];
    const http = session ? sessions.get(session) : await legacySession();
    if (!http) return response.writeHead(404).end();
    return http.handleRequest(request, response, body);
}

// What HTTP itself asks for: that its header and the message name the same revision and method.
function modernHTTP(request, body, version, response) {
    const named = body?.params?._meta?.[MODERN];
    const method = request.headers["mcp-method"];
    if (body && body.id !== undefined && ((version && named && version !== named) || (method && method !== body.method)))
        return response.writeHead(400, { "content-type": "application/json" })
            .end(JSON.stringify({ jsonrpc: "2.0", id: body.id, error: { code: -32020, message: "header and message differ" } }));
    // Without a claim in the message it would be a message of the legacy era for the server.
    if (body && body.id !== undefined && !named)
        body = { ...body, params: { ...body.params, _meta: { ...body.params?._meta, [MODERN]: body.params?._meta?.[MODERN] ?? null } } };
    return modern(body, response);
}

createServer((request, response) => handle(request, response).catch((error) => {
    console.error("bridge:", error);
    if (!response.headersSent) response.writeHead(500);
    response.end();
})).listen(Number(port), "127.0.0.1", function () {
    console.log(this.address().port);
});
