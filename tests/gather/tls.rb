http.verify_mode = OpenSSL::SSL::VERIFY_NONE # FIND rb-tls-unverified
@http.verify_mode = OpenSSL::SSL::VERIFY_NONE # FIND rb-tls-unverified
Net::HTTP.start(host, port, verify_mode: OpenSSL::SSL::VERIFY_NONE) # FIND rb-tls-unverified
Net::HTTP.start(host, :verify_mode => OpenSSL::SSL::VERIFY_NONE) # FIND rb-tls-unverified
open(url, ssl_verify_mode: OpenSSL::SSL::VERIFY_NONE) # FIND rb-tls-unverified
open(url, :ssl_verify_mode => OpenSSL::SSL::VERIFY_NONE) # FIND rb-tls-unverified
RestClient::Request.execute(url: url, verify_ssl: false) # FIND rb-tls-unverified
RestClient::Resource.new(url, :verify_ssl => false) # FIND rb-tls-unverified
options = { verify_ssl: OpenSSL::SSL::VERIFY_NONE } # FIND rb-tls-unverified
connection.http.verify_mode = OpenSSL::SSL::VERIFY_NONE # FIND rb-tls-unverified
http.verify_mode = OpenSSL::SSL::VERIFY_PEER
RestClient::Request.execute(url: url, verify_ssl: true)
# http.verify_mode = OpenSSL::SSL::VERIFY_NONE
